/*
 * ridge roofline: the time of an operation on a chip, and what bounds it.
 */
#include "cli.h"

#include "ridge/report.h"

/** --dims and the key=value arguments as one list. */
static const char *join_dims(const cli_run *run)
{
    const char *dims = cli_option_text(run, "dims");
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(run->cx));
    if (dims)
        ridge_buf_puts(&b, dims);
    for (int i = 0; i < run->n_knobs; i++) {
        ridge_buf_printf(&b, "%s%s=%s", b.n ? "," : "", run->knobs[i].key,
                         run->knobs[i].value);
    }
    return ridge_buf_text(&b);
}

static ridge_status read_formats(cli_run *run, ridge_formats *out)
{
    ridge_dtype all = RIDGE_DTYPE_BF16;
    RIDGE_TRY(cli_option_dtype(run, "dtype", all, &all));
    RIDGE_TRY(cli_option_dtype(run, "activations", all, &out->activation));
    RIDGE_TRY(cli_option_dtype(run, "weights", all, &out->weight));
    RIDGE_TRY(cli_option_dtype(run, "output", out->activation, &out->output));
    return cli_option_dtype(run, "compute", all, &out->compute);
}

/* Formats that an operation has not: what is priced would not be what was meant. */
static ridge_status check_formats(cli_run *run, const ridge_op *op)
{
    static const char *const operands[] = {"weights", "activations", "output", NULL};
    static const char *const products[] = {"weights", "output", "compute", NULL};
    static const char *const output[] = {"output", NULL};
    switch (op->kind) {
    case RIDGE_OP_WORK:
        return cli_refuse_options(run, operands,
                                  "is of operands, and bytes= says how many there are: "
                                  "leave it out");
    case RIDGE_OP_STREAM:
        return cli_refuse_options(run, products,
                                  "is of products: --dtype is the format of vectors");
    case RIDGE_OP_ATTENTION:
        return cli_refuse_options(run, output,
                                  "is of products and einsums: the output of attention "
                                  "has the format of --activations");
    case RIDGE_OP_MATMUL:
    case RIDGE_OP_EINSUM:
        break;
    }
    return RIDGE_OK;
}

static ridge_status read_op(cli_run *run, ridge_op *out)
{
    ridge_op_request request = {
        .text = run->args[0],
        .dims = join_dims(run),
        .is_format_given =
            cli_option_text(run, "dtype") || cli_option_text(run, "activations"),
    };
    RIDGE_TRY(read_formats(run, &request.formats));
    RIDGE_TRY(ridge_op_parse(run->cx, &request, out));
    RIDGE_TRY(check_formats(run, out));
    const char *memory = cli_option_text(run, "memory");
    return memory ? ridge_memory_parse(run->cx, memory, &out->memory) : RIDGE_OK;
}

static ridge_status find_roofline(cli_run *run, ridge_roofline *roofline,
                                  ridge_roofline_view *view)
{
    ridge_op op;
    ridge_sweep sweep;
    RIDGE_TRY(cli_slice(run, &view->slice));
    RIDGE_TRY(read_op(run, &op));
    const char *range = cli_option_text(run, "sweep");
    if (range)
        RIDGE_TRY(ridge_sweep_parse(run->cx, range, &sweep));
    RIDGE_TRY(ridge_roofline_find(run->cx, view->slice->chip, &op,
                                  range ? &sweep : NULL, roofline));
    view->roofline = roofline;
    return RIDGE_OK;
}

static int write_page(cli_run *run, const ridge_roofline_view *view)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_roofline_write_html(run->cx, view, &page);
    return cli_emit_html(run, &page);
}

static int run_roofline(cli_run *run)
{
    ridge_roofline roofline;
    ridge_roofline_view view = {.slice = NULL};
    if (find_roofline(run, &roofline, &view) != RIDGE_OK)
        return cli_fail(run);
    int code = run->html_path ? write_page(run, &view) : 0;
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_roofline_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_roofline_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static const cli_option options[] = {
    {"on", "SLICE", "chip or slice: h100, v5e:4x4; one chip of it runs the operation"},
    {"dims", "SIZES", "sizes of an einsum or of attention: b=4,t=4096"},
    {"dtype", "DTYPE", "format of everything (bf16; add: fp32)"},
    {"weights", "DTYPE", "format of the second operand, or of the KV cache"},
    {"activations", "DTYPE", "format of the first operand and of the output"},
    {"output", "DTYPE", "format of the output"},
    {"compute", "DTYPE", "format of the arithmetic"},
    {"memory", "MEMORY",
     "where operands stream from: hbm, fast (VMEM), pcie (the host)"},
    {"sweep", "RANGE", "a dim over a range: m=1..8192, m=1..4096*4, m=128..4096+128"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_roofline = {
    .name = "roofline",
    .summary = "an operation's time, what bounds it, critical sizes; a chart",
    .synopsis = "OP [DIM=SIZE ...]",
    .detail =
        "OP is a matmul MxKxN, an einsum such as btd,df->btf with a size for each "
        "dim,\n"
        "attention:prefill (t=) or attention:decode (s=) with b sequences, n heads,\n"
        "k KV heads and h head dim, or add:N, elementwise:N, dot:N on vectors; or "
        "work\n"
        "of any shape, flops:1e12 with bytes=2e9 where they are known, or bytes:1GiB.\n"
        "\n"
        "The bound is the largest of FLOPs / peak, vector FLOPs / vector peak and\n"
        "bytes / bandwidth. The expected time adds the launch and takes achievable\n"
        "rates and the shape: padding to tiles or to the systolic array, and waves.\n"
        "\n"
        "The critical size is the number of rows (tokens) from which the operation is\n"
        "compute bound.",
    .example = "ridge roofline 8192x8192x28672 --on h100 --sweep m=1..8192",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .takes_knobs = true,
    .run = run_roofline,
};
