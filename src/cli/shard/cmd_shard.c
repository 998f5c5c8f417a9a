/*
 * ridge shard: the collectives that a sharded einsum needs, every strategy priced.
 */
#include "shard_program.h"

#include "ridge/report_shard.h"

static ridge_status read_formats(cli_run *run, ridge_formats *out)
{
    /* what is run is fp32, so that sums are exact */
    const bool is_run = cli_option_text(run, "run") != NULL;
    ridge_dtype all = is_run ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
    RIDGE_TRY(cli_option_dtype(run, "dtype", all, &all));
    RIDGE_TRY(cli_option_dtype(run, "activations", all, &out->activation));
    RIDGE_TRY(cli_option_dtype(run, "weights", all, &out->weight));
    RIDGE_TRY(cli_option_dtype(run, "output", out->activation, &out->output));
    return cli_option_dtype(run, "compute", all, &out->compute);
}

static ridge_status find_study(cli_run *run, ridge_shard_request *request,
                               ridge_shard_study *study)
{
    RIDGE_TRY(read_formats(run, &request->formats));
    if (cli_option_text(run, "on"))
        RIDGE_TRY(cli_slice(run, &request->slice));
    request->place = cli_option_text(run, "place");
    request->has_overlap = cli_option_text(run, "overlap") != NULL;
    const bool can_overlap = request->slice || cli_option_text(run, "run");
    if (!request->slice && (request->place || (request->has_overlap && !can_overlap))) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--place and --overlap need a network: add --on SLICE");
    }
    return ridge_shard_study_find(run->cx, request, study);
}

static int run_expr(cli_run *run)
{
    const ridge_expr_texts texts = {run->args[0], cli_option_text(run, "mesh"),
                                    cli_option_text(run, "dims")};
    ridge_expr_fault fault = {NULL, 0};
    ridge_expr expr;
    ridge_shard_request request = {.expr = &expr};
    ridge_shard_study study;
    if (ridge_expr_parse_at(run->cx, &texts, &fault, &expr) != RIDGE_OK)
        return cli_fail_at(run, &fault);
    if (find_study(run, &request, &study) != RIDGE_OK)
        return cli_fail(run);
    const ridge_shard_view view = {.study = &study,
                                   .has_all = cli_option_text(run, "all") != NULL};
    return cli_option_text(run, "run") ? cli_shard_prove(run, &view)
                                       : cli_shard_write(run, &view);
}

/* Options of one of the ways to ask, where another one is asked. */
static ridge_status check_options(cli_run *run, bool is_program)
{
    static const char *const of_programs[] = {"lay", "auto", NULL};
    static const char *const of_exprs[] = {"dims",    "all",    "strategy",
                                           "values",  "dtype",  "activations",
                                           "weights", "output", NULL};
    static const char *const of_runs[] = {"strategy", "engine", "threads", "timeout",
                                          "values",   "seed",   NULL};
    if (cli_option_text(run, "run") == NULL)
        RIDGE_TRY(cli_refuse_options(run, of_runs,
                                     "is of --run: give that too, or leave it out"));
    return is_program
               ? cli_refuse_options(run, of_exprs,
                                    "is of an expression: the program says it itself")
               : cli_refuse_options(run, of_programs, "is of --program FILE");
}

static int run_shard(cli_run *run)
{
    const bool is_program = cli_option_text(run, "program") != NULL;
    if (is_program == (run->n_args == 1)) {
        const ridge_status st =
            ridge_fail(run->cx, RIDGE_E_ARG,
                       "one thing is sharded: an expression or --program FILE");
        return st == RIDGE_OK ? 0 : cli_fail(run);
    }
    if (check_options(run, is_program) != RIDGE_OK)
        return cli_fail(run);
    return is_program ? cli_shard_program(run) : run_expr(run);
}

static const cli_option options[] = {
    {"mesh", "AXES", "mesh axes and their sizes: x=4,y=2"},
    {"dims", "SIZES", "sizes of the dims: I=1024,J=4096"},
    {"program", "FILE", "shard a program, as ridge model --program writes it"},
    {"lay", "RULES", "how its weights and inputs lie: 'x[B@dp,D] w[D,F@tp]'"},
    {"auto", NULL, "search the shardings of all intermediates of the program"},
    {"on", "SLICE", "price on a slice of as many chips; without it, bytes alone"},
    {"place", "PLACES", "mesh axes on network axes, innermost first: x=ici-x,y=ici-y"},
    {"overlap", NULL, "hide what can be hidden: collective matmul, prefetch"},
    {"all", NULL, "show every strategy; with --run, run every one"},
    {"run", NULL, "run it on ranks, and compare with the unsharded product"},
    {"strategy", "N", "run the N-th strategy of the list (1)"},
    {"engine", "NAME", "threads (default), mpi (default under mpirun), cuda"},
    {"threads", "N", "that compute for each rank (processors / ranks)"},
    {"timeout", "S", "seconds that a rank waits for another (60)"},
    {"values", "KIND", "whole numbers, which leave no error (default), or real ones"},
    {"seed", "N", "of the numbers (1)"},
    {"dtype", "DTYPE", "format of everything (bf16; with --run fp32)"},
    {"activations", "DTYPE", "format of the first operand and of the output"},
    {"weights", "DTYPE", "format of the other operands"},
    {"output", "DTYPE", "format of the output"},
    {"compute", "DTYPE", "format of the arithmetic"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_shard = {
    .name = "shard",
    .summary = "which collectives a sharded einsum needs, every strategy priced",
    .synopsis = "[EXPR]",
    .detail =
        "EXPR is A[I@x,J] * B[J,K@y] -> C[I@x,K@y]: up to four operands, behind @ the "
        "mesh\n"
        "axes that cut a dim, outermost first (I@xy for axes of one letter, I@(tp,dp) "
        "or\n"
        "I@tp+dp for any), and {U@z} for partial sums over z. The book's I_X, I_XY "
        "and\n"
        "{U_X} are taken too. Without -> the output has the dims of exactly one "
        "operand.\n"
        "\n"
        "A strategy is a sequence of gathers, slices and moves of operands before the\n"
        "product and of reductions, gathers and moves after it that ends as wanted. "
        "All\n"
        "are listed that do nothing needless.\n"
        "\n"
        "A dim that does not divide is padded; what that costs is told.\n"
        "\n"
        "With --run, each rank (a thread, or a process under mpirun; as many as the "
        "mesh\n"
        "has) holds its parts of the operands, takes the steps, multiplies, and the "
        "result\n"
        "is compared with the unsharded product in double precision; the times are "
        "those\n"
        "of this machine. With --overlap, gathers, scatters and sums beside the "
        "product\n"
        "run once more in chunks around the ring. Exit code 1: the numbers are wrong. "
        "The\n"
        "example with --run takes about a second.\n"
        "\n"
        "With --program, the tensors that --lay names lie as it says, weights and "
        "inputs\n"
        "by name or by role (weight[D@fsdp]); the rest follows, and collectives are "
        "put\n"
        "in. With --auto, the shardings of all intermediates are those for which\n"
        "operations and network take the least, one after the other: exact, for small\n"
        "programs of einsums, attention, norms and elementwise operations.",
    .example = "ridge shard 'A[I@x,J] * B[J,K@y] -> C[I@x,K]' --mesh x=4,y=2 "
               "--dims I=512,J=1024,K=2048 --on v5p:4x2x1",
    .options = options,
    .min_args = 0,
    .max_args = 1,
    .run = run_shard,
};
