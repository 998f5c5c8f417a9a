/* Whole replicas in pools of unlike chips: against every deal of the batch, and against
 * one slice of both pools where they are alike.
 */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_fleet.h"

#include <math.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_train_request *request_of(void **state, const char *text, double seqs)
{
    ridge_train_request *r = ridge_new(ridge_ctx_arena(*state), ridge_train_request, 1);
    assert_non_null(r);
    *r =
        train_request(train_dense_model(*state), train_slice(*state, text), seqs, 2048);
    return r;
}

static ridge_fleet_replicas replicas_of(void **state, const ridge_train_request *r)
{
    ridge_fleet_replicas out;
    assert_ok(*state, ridge_fleet_replicas_search(*state, r, &out));
    return out;
}

/* ---- against every deal -----------------------------------------------------------
 */

/* A pool's best layout for its share, without a thought of the others. */
static ridge_fleet_share share_of(void **state, const ridge_train_request *r, int pool,
                                  int64_t seqs)
{
    ridge_train_request own = *r;
    ridge_train_result result;
    ridge_slice slice = *r->slice;
    for (int i = 0; i < pool; i++)
        slice = *slice.next;
    slice.next = NULL;
    own.slice = &slice;
    own.batch_tokens = (double)seqs * own.seq_tokens;
    own.top = 1;
    assert_ok(*state, ridge_train_search(*state, &own, &result));
    assert_true(result.n_layouts > 0);
    return (ridge_fleet_share){
        .pool = pool, .batch_seqs = seqs, .price = result.layouts[0]};
}

static double best_deal_s(void **state, const ridge_train_request *r, int64_t seqs)
{
    double best_s = (double)INFINITY;
    for (int64_t mine = 1; mine < seqs; mine++) {
        const ridge_fleet_share shares[2] = {share_of(state, r, 0, mine),
                                             share_of(state, r, 1, seqs - mine)};
        ridge_fleet_replicas one;
        assert_ok(*state, ridge_fleet_replicas_price(*state, r, shares, 2, &one));
        if (one.price.fit == RIDGE_FIT_OK)
            best_s = fmin(best_s, one.price.step_time_s);
    }
    return best_s;
}

static void no_deal_is_better(void **state)
{
    const char *const fleets[] = {"h100:1x2+a100:1x4", "v5e:2x2+h100:1x2"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(fleets); i++) {
        const ridge_train_request *r = request_of(state, fleets[i], 12);
        const ridge_fleet_replicas found = replicas_of(state, r);
        assert_int_equal(found.n, 2);
        assert_true(found.price.step_time_s <= best_deal_s(state, r, 12) * (1 + 1e-9));
    }
}

/* Beyond what is tried one by one shares are moved. */
static void a_large_batch_is_dealt_nearly_as_well(void **state)
{
    const ridge_train_request *r = request_of(state, "h100:1x2+a100:1x2", 40);
    const ridge_fleet_replicas found = replicas_of(state, r);
    const double best_s = best_deal_s(state, r, 40);
    print_message("%g s found, %g s the best deal\n", found.price.step_time_s, best_s);
    assert_true(found.price.step_time_s <= best_s * 1.01);
}

/* ---- what holds of them ------------------------------------------------------------
 */

static void shares_make_up_the_batch(void **state)
{
    const ridge_train_request *r = request_of(state, "h100:1x8+a100:1x4+v5e:2x2", 60);
    const ridge_fleet_replicas found = replicas_of(state, r);
    int64_t seqs = 0;
    assert_int_equal(found.n, 3);
    for (int i = 0; i < found.n; i++) {
        const ridge_fleet_share *s = &found.shares[i];
        seqs += s->batch_seqs;
        assert_true(s->price.step_time_s <= found.price.step_time_s);
        assert_near(s->waiting, 1 - s->price.step_time_s / found.price.step_time_s,
                    1e-12);
    }
    assert_int_equal(seqs, 60);
    assert_near(found.shares[found.slowest].price.step_time_s, found.price.step_time_s,
                0);
    assert_near(ridge_step_total_s(&found.price.parts), found.price.step_time_s, 1e-9);
    assert_true(found.price.bound_step_time_s <= found.price.step_time_s);
}

/* The network between pools is their outermost, which takes a little longer. */
static void alike_pools_are_one_slice(void **state)
{
    const ridge_train_request *r = request_of(state, "h100:2x8+h100:2x8", 64);
    const ridge_train_request *whole = request_of(state, "h100:4x8", 64);
    const ridge_fleet_replicas found = replicas_of(state, r);
    assert_int_equal(found.n, 2);
    assert_int_equal(found.shares[0].batch_seqs, 32);
    ridge_layout l = found.shares[0].price.layout;
    ridge_train_price one;
    l.dp *= 2;
    l.placement += l.placement % 2; /* replicas outermost */
    assert_ok(*state, ridge_train_price_one(*state, whole, &l, &one));
    assert_int_equal(one.fit, RIDGE_FIT_OK);
    assert_near(found.price.step_time_s, one.step_time_s, 0.02);
    assert_near(found.price.mfu, one.mfu, 0.02);
    assert_near(found.price.peak_memory_bytes, one.peak_memory_bytes, 1e-9);
}

/* What is priced again is what was found. */
static void the_same_replicas_have_the_same_price(void **state)
{
    const ridge_train_request *r = request_of(state, "h100:1x8+v5p:2x2x2", 48);
    const ridge_fleet_replicas found = replicas_of(state, r);
    ridge_fleet_replicas again;
    assert_int_equal(found.n, 2);
    assert_ok(*state, ridge_fleet_replicas_price(*state, r, found.shares, 2, &again));
    assert_near(again.price.step_time_s, found.price.step_time_s, 0);
    assert_near(again.price.mfu, found.price.mfu, 0);
    assert_int_equal(again.price.padded_seqs, found.price.padded_seqs);
}

static void a_share_for_each_pool_is_asked(void **state)
{
    const ridge_train_request *r = request_of(state, "h100:1x8+v5p:2x2x2", 48);
    const ridge_fleet_replicas found = replicas_of(state, r);
    ridge_fleet_share shares[2] = {found.shares[0], found.shares[0]};
    ridge_fleet_replicas out;
    assert_int_equal(ridge_fleet_replicas_price(*state, r, shares, 2, &out),
                     RIDGE_E_ARG);
    assert_int_equal(ridge_fleet_replicas_price(*state, r, found.shares, 1, &out),
                     RIDGE_E_ARG);
    shares[1] = found.shares[1];
    shares[1].batch_seqs = 0;
    assert_int_equal(ridge_fleet_replicas_price(*state, r, shares, 2, &out),
                     RIDGE_E_ARG);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)
    const struct CMUnitTest tests[] = {
        CASE(no_deal_is_better),
        CASE(a_large_batch_is_dealt_nearly_as_well),
        CASE(shares_make_up_the_batch),
        CASE(alike_pools_are_one_slice),
        CASE(the_same_replicas_have_the_same_price),
        CASE(a_share_for_each_pool_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
