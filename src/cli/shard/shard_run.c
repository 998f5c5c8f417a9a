/*
 * ridge shard: how a sharded einsum is shown, and --run: strategies run on ranks and
 * compared with the unsharded product.
 */
#include "rank_options.h"
#include "shard_program.h"

#include <math.h>

/* ---- shown ---- */

static int write_page(cli_run *run, const ridge_shard_view *view)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_shard_write_html(run->cx, view, &page);
    return cli_emit_html(run, &page);
}

int cli_shard_write(cli_run *run, const ridge_shard_view *view)
{
    int code = run->html_path ? write_page(run, view) : 0;
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_shard_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_shard_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

/* ---- run ---- */

/* Which of the study's strategies are run: --strategy N, all that are shown, or the
 * first. */
static ridge_status choose(cli_run *run, const ridge_shard_study *study, int *first,
                           int *n)
{
    double number = 1;
    const bool is_chosen = cli_option_text(run, "strategy") != NULL;
    RIDGE_TRY(cli_option_count(run, "strategy", 1, &number));
    if (number < 1 || number > study->n || floor(number) != number) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--strategy: expected 1 to %d, as --all lists them",
                          study->n);
    }
    *first = (int)number - 1;
    *n = !is_chosen && cli_option_text(run, "all") ? study->n : 1;
    return RIDGE_OK;
}

static ridge_status read_run(cli_run *run, const ridge_shard_study *study,
                             ridge_strategy_run *out)
{
    const char *draw = cli_option_text(run, "values");
    double seed = 1;
    *out = (ridge_strategy_run){.expr = &study->expr,
                                .formats = study->formats,
                                .has_overlap = study->has_overlap};
    RIDGE_TRY(cli_option_whole(run, "seed", 1, 9e15, &seed));
    out->seed = (uint64_t)seed;
    if (draw)
        RIDGE_TRY(ridge_draw_parse(run->cx, draw, &out->draw));
    return cli_rank_options(run, ridge_mesh_size(&study->expr.mesh), &out->ranks,
                            &out->threads);
}

static ridge_status run_strategies(cli_run *run, const ridge_shard_study *study,
                                   ridge_shard_proof *out)
{
    ridge_strategy_run how;
    ridge_arena *arena = ridge_ctx_arena(run->cx);
    RIDGE_TRY(read_run(run, study, &how));
    RIDGE_TRY(choose(run, study, &out->first, &out->n));
    const ridge_strategy **strategies =
        ridge_new(arena, const ridge_strategy *, (size_t)out->n);
    ridge_strategy_result *results =
        ridge_new(arena, ridge_strategy_result, (size_t)out->n);
    if (!strategies || !results)
        return ridge_fail_nomem(run->cx);
    for (int i = 0; i < out->n; i++)
        strategies[i] = &study->strategies[out->first + i].strategy;
    how.n = out->n;
    how.strategies = strategies;
    out->run = how;
    out->results = results;
    return ridge_strategies_run(run->cx, &how, results);
}

int cli_shard_prove(cli_run *run, const ridge_shard_view *view)
{
    ridge_shard_proof proof = {.n = 0};
    if (run_strategies(run, view->study, &proof) != RIDGE_OK)
        return cli_fail(run);
    const ridge_shard_view proven = {view->study, view->has_all, &proof};
    const int code = ridge_launched_rank() == 0 ? cli_shard_write(run, &proven) : 0;
    return code == 0 && !ridge_shard_proof_holds(&proof) ? 1 : code;
}
