/* Runs of ranks on GPUs, in place of threads: with as many as there are, up to 5. */
#include "comm_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

ridge_engine comm_engine_of(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return RIDGE_ENGINE_CUDA;
}

static void skip_without_gpu(void)
{
    const char *lack = ridge_engine_lacks(RIDGE_ENGINE_CUDA);
    if (lack == NULL)
        return;
    fprintf(stderr, "skipped: %s\n", lack);
    skip();
}

/** Numbers that this machine has GPUs for: the run refuses others. */
int comm_rank_counts(ridge_engine engine, int counts[8])
{
    static const int several[] = {1, 2, 5};
    (void)engine;
    skip_without_gpu();
    memcpy(counts, several, sizeof several);
    return (int)RIDGE_COUNT_OF(several);
}

bool comm_run(ridge_engine engine, int ranks, ridge_rank_fn *fn, void *payload)
{
    skip_without_gpu();
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return false;
    const ridge_ranks how = {.engine = engine, .ranks = ranks, .timeout_s = 30};
    const ridge_status status = ridge_ranks_run(cx, &how, fn, payload);
    const bool has_too_few = strstr(ridge_ctx_message(cx), " GPUs: ") != NULL;
    if (status != RIDGE_OK)
        fprintf(stderr, "%d ranks: %s\n", ranks, ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return status == RIDGE_OK || has_too_few;
}
