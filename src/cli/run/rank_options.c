/* --engine, --threads, --timeout. */
#include "rank_options.h"

#include <math.h>

enum { THREADS_MOST = 64, TIMEOUT_S = 60 };

ridge_status cli_rank_options(cli_run *run, int64_t ranks, ridge_ranks *out,
                              int *threads)
{
    const char *engine = cli_option_text(run, "engine");
    ridge_ranks r = {.engine = ridge_launched_ranks() > 1 ? RIDGE_ENGINE_MPI
                                                          : RIDGE_ENGINE_THREADS};
    double count, timeout_s;
    if (engine)
        RIDGE_TRY(ridge_engine_parse(run->cx, engine, &r.engine));
    RIDGE_TRY(cli_option_count(run, "threads", 0, &count));
    RIDGE_TRY(cli_option_count(run, "timeout", TIMEOUT_S, &timeout_s));
    if (count > THREADS_MOST || floor(count) != count) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "--threads: expected 1 to %d",
                          THREADS_MOST);
    }
    if (ranks > RIDGE_RANK_MAX) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "the mesh has %lld ranks: at most %d run", (long long)ranks,
                          RIDGE_RANK_MAX);
    }
    r.ranks = (int)ranks;
    r.timeout_s = timeout_s > 0.0 ? timeout_s : TIMEOUT_S;
    *out = r;
    *threads = (int)count;
    return RIDGE_OK;
}
