/* What callers name of this layer in a build that runs no programs (RIDGE_EXECUTE off:
 * a browser has no ranks): every call says so. */
#include "ridge/execute_shard.h"
#include "ridge/execute_weights.h"

static ridge_status fail_absent(ridge_ctx *cx, const char *what)
{
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: this build of Ridge runs no programs: use the ridge program",
                      what);
}

/* ---- ranks ---- */

const char *ridge_engine_text(ridge_engine engine)
{
    (void)engine;
    return "none";
}

ridge_status ridge_engine_parse(ridge_ctx *cx, const char *text, ridge_engine *out)
{
    (void)out;
    return fail_absent(cx, text);
}

int ridge_launched_ranks(void)
{
    return 1;
}

int ridge_launched_rank(void)
{
    return 0;
}

/* ---- proofs ---- */

ridge_status ridge_draw_parse(ridge_ctx *cx, const char *text, ridge_draw *out)
{
    (void)out;
    return fail_absent(cx, text);
}

ridge_status ridge_strategies_run(ridge_ctx *cx, const ridge_strategy_run *run,
                                  ridge_strategy_result *results)
{
    (void)run;
    (void)results;
    return fail_absent(cx, "--run");
}

ridge_status ridge_partition_run_check(ridge_ctx *cx, const ridge_partition_run *run,
                                       ridge_partition_result *out)
{
    (void)run;
    (void)out;
    return fail_absent(cx, "--run");
}

/* ---- weights ---- */

bool ridge_llama2c_is_checkpoint(const char *path)
{
    (void)path;
    return false;
}

ridge_status ridge_llama2c_model(ridge_ctx *cx, const char *path,
                                 const ridge_model **out, ridge_numerics *numerics)
{
    (void)out;
    (void)numerics;
    return fail_absent(cx, path);
}
