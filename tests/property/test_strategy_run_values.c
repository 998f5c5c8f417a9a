/*
 * Strategies on real ranks: for random sharded einsums on meshes of up to eight, every
 * strategy gives exactly the product of the whole arrays, padding zero and replicas
 * alike, blocking and overlapped.
 */
#include "near.h"

#include "seeded_expr.h"

#include "ridge/execute_shard.h"

enum { TRIALS = 150, RANKS_MOST = 8 };

static void fail_run(ridge_ctx *cx, const ridge_expr *e, const ridge_strategy *s,
                     uint64_t seed, const char *why)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_expr_write(e, &b);
    for (int d = 0; d < e->n_dims; d++)
        ridge_buf_printf(&b, " %s=%lld", e->dims[d].name, (long long)e->dims[d].size);
    for (int a = 0; a < e->mesh.n; a++) {
        ridge_buf_printf(&b, " %s=%lld", e->mesh.axes[a].name,
                         (long long)e->mesh.axes[a].size);
    }
    if (s) {
        ridge_buf_puts(&b, ": ");
        ridge_strategy_write(e, s, &b);
    }
    fail_msg("seed %llu: %s: %s", (unsigned long long)seed, ridge_buf_text(&b), why);
}

static void check_result(ridge_ctx *cx, const ridge_expr *e, const ridge_strategy *s,
                         uint64_t seed, const ridge_strategy_result *r)
{
    if (!r->is_exact)
        fail_run(cx, e, s, seed, "not exact");
    if (!r->is_padding_zero)
        fail_run(cx, e, s, seed, "padding is not zero");
    if (!r->has_equal_replicas)
        fail_run(cx, e, s, seed, "replicas differ");
    if (!r->is_right || r->max_abs_error > 0.0)
        fail_run(cx, e, s, seed, "wrong numbers");
}

/* What was run of an expression. */
typedef struct counts {
    int strategies, overlapped;
} counts;

static void check_expr(uint64_t seed, counts *run_so_far)
{
    seeded at = seed;
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_expr e = seeded_expr(&at, &seeded_expr_all);
    const int64_t ranks = ridge_mesh_size(&e.mesh);
    ridge_strategy *all = ridge_new(arena, ridge_strategy, RIDGE_STRATEGY_MAX);
    const ridge_strategy **chosen =
        ridge_new(arena, const ridge_strategy *, RIDGE_STRATEGY_MAX);
    ridge_strategy_result *results =
        ridge_new(arena, ridge_strategy_result, RIDGE_STRATEGY_MAX);
    assert_true(all && chosen && results);
    int n = 0;
    if (ranks > RANKS_MOST || ridge_expr_strategies(cx, &e, all, &n) != RIDGE_OK) {
        ridge_ctx_close(cx);
        return;
    }
    for (int i = 0; i < n; i++)
        chosen[i] = &all[i];
    const ridge_strategy_run run = {.expr = &e,
                                    .n = n,
                                    .strategies = chosen,
                                    .formats = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32,
                                                RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32},
                                    .ranks = {RIDGE_ENGINE_THREADS, (int)ranks, 60.0},
                                    .threads = 1,
                                    .seed = seed,
                                    .repeats = 1,
                                    .has_overlap = true};
    if (ridge_strategies_run(cx, &run, results) != RIDGE_OK)
        fail_run(cx, &e, NULL, seed, ridge_ctx_message(cx));
    for (int i = 0; i < n; i++) {
        check_result(cx, &e, chosen[i], seed, &results[i]);
        run_so_far->overlapped += results[i].has_overlap;
    }
    run_so_far->strategies += n;
    ridge_ctx_close(cx);
}

static void every_strategy_runs_exactly(void **state)
{
    (void)state;
    counts run = {0, 0};
    for (uint64_t seed = 1; seed <= TRIALS; seed++)
        check_expr(seed, &run);
    print_message("%d strategies of %d expressions, %d of them overlapped too\n",
                  run.strategies, TRIALS, run.overlapped);
    assert_true(run.strategies > 2 * TRIALS);
    assert_true(run.overlapped > TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_runs_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
