/* What a memo gives back of a layer's exchanges is what they take, however many it
 * holds. */
#include "exchange_memo.h"
#include "layer_program.h"
#include "train_fixture.h"
#include "train_terms.h"

#include <string.h>

enum { FORGOTTEN = 2 }; /* meshes after which it is made to forget */

static const ridge_layout meshes[] = {
    {.dp = 4, .fsdp = 32, .tp = 2, .cp = 2, .pp = 2, .ep = 8, .zero_stage = 3},
    {.dp = 2, .fsdp = 16, .tp = 4, .cp = 4, .pp = 1, .ep = 16, .zero_stage = 1},
    {.dp = 8, .fsdp = 8, .tp = 2, .cp = 1, .pp = 4, .ep = 32, .zero_stage = 2},
    {.dp = 1, .fsdp = 128, .tp = 1, .cp = 1, .pp = 4, .ep = 64, .zero_stage = 3},
};

static int compare_all(ridge_ctx *cx, train_case *tc, exchange_memo *memo,
                       const ridge_layout *l)
{
    const layer_shape shape = layer_shape_of(l);
    const layer_time *layers = train_layer_times(tc, &shape);
    assert_non_null(layers);
    int n = 0;
    for (int p = 0; p < train_placement_most(tc->slice); p++) {
        train_groups g;
        if (!train_groups_place(tc->slice, l, p, &g))
            continue;
        const layer_exchange *found =
            exchange_memo_find(memo, ridge_ctx_arena(cx), tc, &g, layers);
        assert_non_null(found);
        for (int k = 0; k <= tc->n_kinds; k++) {
            const layer_exchange own = train_layer_exchange(tc, &g, &layers[k]);
            assert_memory_equal(&found[k], &own, sizeof own);
        }
        n++;
    }
    return n;
}

static void what_is_kept_is_what_exchanges_take(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_train_request r = train_request(
        fixture_named(cx, "deepseek-v3"), train_slice(cx, "2*v5p:4x8x8"), 4096, 4096);
    train_case tc;
    int n = 0;
    assert_ok(cx, train_case_open(cx, &r, &tc));
    assert_ok(cx, train_programs_open(&tc));
    exchange_memo *memo = exchange_memo_open(ridge_ctx_arena(cx));
    assert_non_null(memo);
    for (int seqs = 1; seqs <= 4; seqs *= 2) {
        for (size_t i = 0; i < RIDGE_COUNT_OF(meshes); i++) {
            ridge_layout l = meshes[i];
            l.vpp = 1;
            l.microbatch_seqs = seqs;
            l.has_sp = l.tp > 1;
            if (i == FORGOTTEN)
                exchange_memo_forget(memo);
            n += compare_all(cx, &tc, memo, &l);
        }
    }
    assert_true(n > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_what_exchanges_take),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
