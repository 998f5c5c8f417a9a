/* Pools of unlike chips: the search against every layout priced one by one, and what
 * must hold of fleets: alike pools are one slice, a slower pool makes nothing faster.
 */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_fleet.h"

#include <math.h>
#include <string.h>

/* Equal up to the last bits, in which sums in another order may differ. */
static const double REL = 1e-9;

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

/* ---- brute force ------------------------------------------------------------------
 */

/* Two pools whose chips have as much memory as told. */
typedef struct fleet_problem {
    ridge_chip chips[2];
    ridge_slice slices[2];
    ridge_train_request request;
    int places[2]; /* placements that may differ */
    int64_t priced;
    bool has_best;
    double best_s;
    ridge_fleet_layout best;
} fleet_problem;

static void problem_open(ridge_ctx *cx, const char *text, const ridge_model *model,
                         double batch_seqs, const double *gb, fleet_problem *p)
{
    const ridge_slice *s = train_slice(cx, text);
    *p = (fleet_problem){.priced = 0};
    for (int i = 0; i < 2; i++, s = s->next) {
        p->chips[i] = *s->chip;
        p->chips[i].hbm_bytes = p->chips[i].visible_bytes = gb[i] * 1e9;
        p->slices[i] = *s;
        p->slices[i].chip = &p->chips[i];
        p->places[i] = s->n_axes > 1 ? 2 : 1;
    }
    p->slices[0].next = &p->slices[1];
    p->request = train_request(model, &p->slices[0], batch_seqs, 2048);
    p->request.top = 1;
}

static void try_one(ridge_ctx *cx, fleet_problem *p, const ridge_layout *common,
                    const ridge_fleet_part *parts)
{
    ridge_fleet_layout l = {
        .common = *common, .n_parts = 2, .parts = {parts[0], parts[1]}};
    ridge_fleet_price price;
    p->priced++;
    ridge_ctx *own = ridge_ctx_open();
    assert_ok(own, ridge_fleet_price_one(own, &p->request, &l, &price));
    if (price.price.fit == RIDGE_FIT_OK &&
        (!p->has_best || price.price.step_time_s < p->best_s)) {
        p->has_best = true;
        p->best_s = price.price.step_time_s;
        p->best = l;
    }
    ridge_ctx_close(own);
    (void)cx;
}

/* Virtual stages that share a mean stage's layers, over whole groups. */
static void try_chunks(ridge_ctx *cx, fleet_problem *p, ridge_layout *l,
                       const ridge_fleet_part *parts)
{
    const int64_t per_stage = p->request.model->layer_count / l->pp;
    const double seqs = p->request.batch_tokens / p->request.seq_tokens;
    const int64_t own = ridge_ceil_div((int64_t)seqs, l->dp * l->fsdp);
    const int64_t m = ridge_ceil_div(own, l->microbatch_seqs);
    for (l->vpp = 1; l->vpp <= per_stage; l->vpp++) {
        if (l->vpp == 1 || (per_stage % l->vpp == 0 && m % l->pp == 0))
            try_one(cx, p, l, parts);
    }
}

/* Orders, remat policies and placements of both pools. */
static void try_parts(ridge_ctx *cx, fleet_problem *p, ridge_layout *l)
{
    const int64_t stage = l->dp * l->fsdp * l->tp * l->cp;
    for (int v = 0; v < 2 * RIDGE_REMAT_COUNT * RIDGE_REMAT_COUNT * 4; v++) {
        ridge_fleet_part parts[2];
        int rest = v / 2;
        for (int i = 0; i < 2; i++) {
            const int pool = (v % 2 == 0) == (i == 0) ? 0 : 1;
            parts[i] = (ridge_fleet_part){pool, p->slices[pool].chips / stage,
                                          (ridge_remat)(rest % RIDGE_REMAT_COUNT),
                                          rest / RIDGE_REMAT_COUNT % 2};
            rest /= 2 * RIDGE_REMAT_COUNT;
        }
        l->pp = parts[0].stages + parts[1].stages;
        const bool is_tried = parts[0].placement < p->places[parts[0].pool] &&
                              parts[1].placement < p->places[parts[1].pool];
        if (is_tried && l->pp <= p->request.model->layer_count)
            try_chunks(cx, p, l, parts);
    }
    l->vpp = 1;
}

static void try_data(ridge_ctx *cx, fleet_problem *p, ridge_layout *l)
{
    for (l->zero_stage = 0; l->zero_stage <= 3; l->zero_stage++) {
        if ((l->zero_stage > 0) < (l->fsdp > 1) ||
            (l->zero_stage > 0 && l->fsdp == 1 && l->cp == 1))
            continue;
        for (l->microbatch_seqs = 1; l->microbatch_seqs <= 8; l->microbatch_seqs++) {
            const int64_t seqs = ridge_ceil_div(
                (int64_t)(p->request.batch_tokens / p->request.seq_tokens),
                l->dp * l->fsdp);
            if (seqs % l->microbatch_seqs == 0)
                try_parts(cx, p, l);
        }
    }
}

/* Each way to deal the batch out, without and with sequence parallelism. */
static void try_stage(ridge_ctx *cx, fleet_problem *p, ridge_layout *l)
{
    const int64_t stage = l->tp * l->cp * l->fsdp * l->dp;
    if (p->slices[0].chips % stage != 0 || p->slices[1].chips % stage != 0)
        return;
    l->has_sp = false;
    try_data(cx, p, l);
    l->has_sp = true;
    if (l->tp > 1)
        try_data(cx, p, l);
}

static void try_shards(ridge_ctx *cx, fleet_problem *p, int64_t most, ridge_layout *l)
{
    for (l->fsdp = 1; l->fsdp <= most; l->fsdp++) {
        for (l->dp = 1; l->dp <= most; l->dp++)
            try_stage(cx, p, l);
    }
}

static void try_all(ridge_ctx *cx, fleet_problem *p, int64_t stage_most)
{
    ridge_layout l = {.ep = 1, .vpp = 1};
    for (l.tp = 1; l.tp <= stage_most; l.tp++) {
        for (l.cp = 1; l.cp <= (p->request.knobs.cp == 1 ? 1 : 2); l.cp++)
            try_shards(cx, p, stage_most, &l);
    }
}

/* @param cp  0: any */
static void check(ridge_ctx *cx, const char *text, int64_t cp, double gb_a, double gb_b)
{
    fleet_problem p;
    ridge_fleet_result result;
    const double gb[2] = {gb_a, gb_b};
    problem_open(cx, text, train_dense_model(cx), 4, gb, &p);
    p.request.knobs.cp = cp;
    p.request.knobs.cp_exchange = RIDGE_CP_RING;
    assert_ok(cx, ridge_fleet_search(cx, &p.request, &result));
    try_all(cx, &p, 2);
    print_message("%s, %g and %g GB: %lld priced one by one, %lld by the search\n",
                  text, gb_a, gb_b, (long long)p.priced, (long long)result.priced);
    assert_int_equal(result.n_layouts > 0, p.has_best);
    if (p.has_best)
        assert_near(result.layouts[0].price.step_time_s, p.best_s, REL);
}

static void the_search_finds_what_brute_force_finds(void **state)
{
    check(*state, "h100:1x2+a100:1x4", 0, 6, 5);
    check(*state, "h100:1x2+v5e:2x2", 1, 5, 16);
    check(*state, "h100:1x2+h100:1x2", 1, 1, 1);
}

/* Where memory is what decides, pool by pool. */
static void the_search_finds_it_in_any_memory(void **state)
{
    const double gb[][2] = {{9, 3.5}, {4.5, 3.8}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(gb); i++)
        check(*state, "a100:1x2+h100:1x4", 1, gb[i][0], gb[i][1]);
}

/* ---- what holds of fleets ---------------------------------------------------------
 */

static ridge_fleet_result fleet_of(void **state, const char *text, double seqs)
{
    ridge_fleet_result result;
    ridge_train_request *r = ridge_new(ridge_ctx_arena(*state), ridge_train_request, 1);
    assert_non_null(r);
    *r =
        train_request(train_dense_model(*state), train_slice(*state, text), seqs, 2048);
    r->total_tokens = 1e12;
    assert_ok(*state, ridge_fleet_search(*state, r, &result));
    return result;
}

/* The network between pools is their outermost, which takes a little longer. */
static void alike_pools_are_one_slice(void **state)
{
    const ridge_fleet_result f = fleet_of(state, "h100:2x8+h100:2x8", 64);
    const ridge_train_request whole = train_request(
        train_dense_model(*state), train_slice(*state, "h100:4x8"), 64, 2048);
    assert_true(f.n_layouts > 0);
    for (int i = 0; i < f.n_layouts; i++) {
        const ridge_fleet_price *p = &f.layouts[i];
        ridge_layout l = p->layout.common;
        ridge_train_price one;
        if (l.pp != 2)
            continue;
        assert_int_equal(p->pools[0].part.remat, p->pools[1].part.remat);
        l.first_layers =
            p->pools[0].layers == 2 ? RIDGE_STAGE_EVEN : p->pools[0].layers;
        l.last_layers = p->pools[0].layers == 2 ? RIDGE_STAGE_EVEN : p->pools[1].layers;
        l.remat = p->pools[0].part.remat;
        l.placement = 0;
        assert_ok(*state, ridge_train_price_one(*state, &whole, &l, &one));
        assert_int_equal(one.fit, RIDGE_FIT_OK);
        assert_near(p->price.step_time_s, one.step_time_s, 0.01);
        assert_near(p->price.bound_step_time_s, one.bound_step_time_s, 0.01);
        assert_near(p->price.peak_memory_bytes, one.peak_memory_bytes, 1e-9);
        assert_near(p->price.mfu, one.mfu, 0.01);
    }
}

static void a_slower_pool_makes_nothing_faster(void **state)
{
    const double fast =
        fleet_of(state, "h100:1x8+h100:1x8", 32).layouts[0].price.step_time_s;
    const double mixed =
        fleet_of(state, "h100:1x8+a100:1x8", 32).layouts[0].price.step_time_s;
    const double slow =
        fleet_of(state, "a100:1x8+a100:1x8", 32).layouts[0].price.step_time_s;
    assert_true(fast <= mixed);
    assert_true(mixed <= slow);
}

/* The quicker pool holds more layers a stage, and parts sum to the step. */
static void layers_go_where_they_are_quick(void **state)
{
    const ridge_fleet_result f = fleet_of(state, "h100:1x8+a100:1x8", 32);
    for (int i = 0; i < f.n_layouts; i++) {
        const ridge_fleet_price *p = &f.layouts[i];
        int64_t layers = 0;
        for (int k = 0; k < p->layout.n_parts; k++) {
            layers += p->pools[k].layers;
            assert_true(p->pools[k].waiting >= -1e-12 && p->pools[k].waiting < 1);
            assert_true(p->pools[k].stage_s <=
                        p->pools[p->slowest].stage_s * (1 + 1e-12));
        }
        assert_int_equal(layers, 4);
        assert_near(ridge_step_total_s(&p->price.parts), p->price.step_time_s, 1e-12);
        assert_true(p->price.bound_step_time_s <= p->price.step_time_s);
    }
    assert_true(f.has_alone[0] && f.has_alone[1]);
    assert_true(f.alone[0].step_time_s < f.alone[1].step_time_s);
}

static void threads_change_nothing(void **state)
{
    ridge_fleet_result one;
    ridge_fleet_result three;
    ridge_train_request r = train_request(
        train_moe_model(*state), train_slice(*state, "a100:1x4+h100:1x4"), 16, 2048);
    r.top = 4;
    r.workers = 1;
    assert_ok(*state, ridge_fleet_search(*state, &r, &one));
    r.workers = 3;
    assert_ok(*state, ridge_fleet_search(*state, &r, &three));
    assert_int_equal(one.n_layouts, three.n_layouts);
    assert_int_equal(one.priced, three.priced);
    for (int i = 0; i < one.n_layouts; i++)
        assert_near(one.layouts[i].price.step_time_s,
                    three.layouts[i].price.step_time_s, 0);
}

/* ---- money ------------------------------------------------------------------------
 */

static void prices_and_failures_add_up(void **state)
{
    static const ridge_site site = {.name = "here", .pue = 1};
    const ridge_fleet_result f = fleet_of(state, "h100:1x8+a100:2x8", 32);
    const ridge_money_request money[2] = {{.site = &site,
                                           .has_price = true,
                                           .price = {.usd_per_chip_hour = 3},
                                           .has_mtbf = true,
                                           .mtbf_scope = RIDGE_MTBF_CHIP,
                                           .mtbf_s = 1e7,
                                           .storage_bytes_per_s = 1e11,
                                           .has_restart = true,
                                           .restart_s = 600,
                                           .watts_per_chip = 1000},
                                          {.site = &site,
                                           .has_price = true,
                                           .price = {.usd_per_chip_hour = 1},
                                           .has_mtbf = true,
                                           .mtbf_scope = RIDGE_MTBF_CHIP,
                                           .mtbf_s = 2e7,
                                           .storage_bytes_per_s = 1e11,
                                           .has_restart = true,
                                           .restart_s = 600,
                                           .watts_per_chip = 400}};
    const ridge_money m = ridge_fleet_money(&f, &f.layouts[0].price, money);
    assert_true(m.has_goodput);
    assert_near(m.job.mtbf_s, 1 / (8 / 1e7 + 16 / 2e7), 1e-9);
    assert_near(m.usd, m.days * 24 * (8 * 3 + 16 * 1), 1e-9);
    assert_near(m.kwh, m.days * 24 * (8 * 1.0 + 16 * 0.4), 1e-9);
    assert_near(m.days * m.goodput, f.layouts[0].price.days, 1e-9);
    ridge_money_request unknown[2] = {money[0], money[1]};
    unknown[1].has_price = false;
    assert_near(ridge_fleet_money(&f, &f.layouts[0].price, unknown).usd, 0, 0);
}

/* ---- what is refused --------------------------------------------------------------
 */

static void what_a_fleet_cannot_take_is_named(void **state)
{
    ridge_fleet_result result;
    ridge_train_request r = train_request(train_dense_model(*state),
                                          train_slice(*state, "h100:1x8"), 32, 2048);
    assert_int_equal(ridge_fleet_search(*state, &r, &result), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(*state), "1 pools"));
    r.slice = train_slice(*state, "h100:1x8+a100:1x8");
    r.knobs.vpp = 2;
    assert_ok(*state, ridge_fleet_search(*state, &r, &result));
    assert_true(result.n_layouts > 0 && result.layouts[0].layout.common.vpp == 2);
    r.knobs.vpp = 0;
    r.knobs.offload = RIDGE_OFFLOAD_OPTIMIZER;
    assert_ok(*state, ridge_fleet_search(*state, &r, &result));
    assert_true(result.n_layouts > 0 &&
                result.layouts[0].layout.common.offload == RIDGE_OFFLOAD_OPTIMIZER);
    r.knobs.offload = RIDGE_KNOB_FREE;
    r.knobs.remat = RIDGE_REMAT_FULL; /* pools may do a part of it, each its own */
    r.knobs.remat_layers = 2;
    assert_ok(*state, ridge_fleet_search(*state, &r, &result));
    assert_int_equal(result.n_layouts, 0);
    assert_non_null(strstr(result.why_no_pipeline, "remat_layers"));
    r.knobs.remat = RIDGE_REMAT_FREE;
    r.knobs.remat_layers = 0;
    r.knobs.schedule = RIDGE_SCHEDULE_DUALPIPE;
    assert_ok(*state, ridge_fleet_search(*state, &r, &result));
    assert_non_null(strstr(result.why_no_pipeline, "schedule"));
    r.knobs.schedule = RIDGE_KNOB_FREE;
    r.knobs.remat = RIDGE_REMAT_OPERATIONS; /* one by one, in each pool */
    assert_ok(*state, ridge_fleet_search(*state, &r, &result));
    assert_int_equal(result.replicas.n, 2);
    assert_non_null(strstr(result.why_no_pipeline, "remat"));
    r.knobs.remat = RIDGE_REMAT_FREE;
    const ridge_fleet_layout none = {.n_parts = 1};
    ridge_fleet_price price;
    assert_int_equal(ridge_fleet_price_one(*state, &r, &none, &price), RIDGE_E_ARG);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_search_finds_what_brute_force_finds),
        CASE(the_search_finds_it_in_any_memory),
        CASE(alike_pools_are_one_slice),
        CASE(a_slower_pool_makes_nothing_faster),
        CASE(layers_go_where_they_are_quick),
        CASE(threads_change_nothing),
        CASE(prices_and_failures_add_up),
        CASE(what_a_fleet_cannot_take_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
