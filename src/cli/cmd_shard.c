/*
 * ridge shard: the collectives that a sharded einsum needs, every strategy priced.
 */
#include "shard_program.h"

#include "ridge/report.h"
#include "ridge/report_shard.h"

static ridge_status read_formats(cli_run *run, ridge_formats *out)
{
    ridge_dtype all = RIDGE_DTYPE_BF16;
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
    if (!request->slice && (request->place || request->has_overlap)) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--place and --overlap need a network: add --on SLICE");
    }
    return ridge_shard_study_find(run->cx, request, study);
}

static int write_page(cli_run *run, const ridge_shard_view *view)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_shard_write_html(run->cx, view, &page);
    return cli_emit_html(run, &page);
}

static int write_study(cli_run *run, const ridge_shard_view *view)
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
    const ridge_shard_view view = {&study, cli_option_text(run, "all") != NULL};
    return write_study(run, &view);
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
    {"all", NULL, "show every strategy"},
    {"dtype", "DTYPE", "format of everything (bf16)"},
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
        "With --program, the tensors that --lay names lie as it says, weights and "
        "inputs\n"
        "by name or by role (weight[D@fsdp]); the rest follows, and collectives are "
        "put\n"
        "in. With --auto, the shardings of all intermediates are those for which\n"
        "operations and network take the least, one after the other: exact, for small\n"
        "programs of einsums, attention, norms and elementwise operations.",
    .example = "ridge shard 'A[I@x,J] * B[J,K@y] -> C[I@x,K]' --mesh x=4,y=2 "
               "--dims I=1024,J=4096,K=8192 --on v5p:4x2x1",
    .options = options,
    .min_args = 0,
    .max_args = 1,
    .run = run_shard,
};
