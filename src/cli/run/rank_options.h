/* The options that say on which ranks something runs: --engine --threads --timeout. */
#ifndef RIDGE_CLI_RANK_OPTIONS_H
#define RIDGE_CLI_RANK_OPTIONS_H

#include "cli.h"

#include "ridge/execute_comm.h"

/**
 * @param ranks    as many as the mesh has
 * @param threads  that compute for each rank; 0: processors / ranks
 * @errors E_ARG too many ranks or threads; E_NOTFOUND an unknown engine
 */
RIDGE_NODISCARD ridge_status cli_rank_options(cli_run *run, int64_t ranks,
                                              ridge_ranks *out, int *threads);

#endif
