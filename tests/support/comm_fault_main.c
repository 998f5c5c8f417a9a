/*
 * comm_fault NAME [threads]: runs a fault among the ranks that mpirun started (or two
 * threads), says what the run says and leaves with 1; with 3 if all went well.
 */
#include "comm_faults.h"

#include <string.h>

int main(int argc, char **argv)
{
    const comm_fault *fault = argc > 1 ? comm_fault_find(argv[1]) : NULL;
    bool is_threads = argc > 2 && strcmp(argv[2], "threads") == 0;
    ridge_ctx *cx = ridge_ctx_open();
    if (fault == NULL || cx == NULL)
        return 2;
    comm_fault_state state = {0};
    ridge_ranks how = {.engine = is_threads ? RIDGE_ENGINE_THREADS : RIDGE_ENGINE_MPI,
                       .ranks = is_threads ? 2 : ridge_launched_ranks(),
                       .timeout_s = fault->timeout_s};
    ridge_status st = ridge_ranks_run(cx, &how, fault->fn, &state);
    if (st == RIDGE_OK)
        return 3;
    fprintf(stderr, "ridge: %s\n", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return 1;
}
