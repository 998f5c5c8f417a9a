/*
 * ridge collective: the time of a collective over a slice's network, by algorithm.
 */
#include "cli.h"

#include "ridge/report.h"

static ridge_status read_size(cli_run *run, double *out)
{
    const char *text = run->args[1];
    if (!ridge_parse_bytes(ridge_str_of(text), out) || *out > 1e18) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "'%.40s' is not a size: write 1GiB, 16MB or 512", text);
    }
    return RIDGE_OK;
}

static ridge_status fill_study(cli_run *run, ridge_collective_study *study)
{
    ridge_dtype dtype;
    ridge_bytes_range range;
    const char *over = cli_option_text(run, "over");
    const char *sweep = cli_option_text(run, "sweep");
    RIDGE_TRY(ridge_collective_parse(run->cx, run->args[0], &study->kind));
    RIDGE_TRY(read_size(run, &study->bytes));
    RIDGE_TRY(cli_slice(run, &study->slice));
    RIDGE_TRY(
        ridge_group_parse(run->cx, study->slice, over ? over : "all", &study->group));
    RIDGE_TRY(cli_option_dtype(run, "dtype", RIDGE_DTYPE_BF16, &dtype));
    if (sweep)
        RIDGE_TRY(ridge_bytes_range_parse(run->cx, sweep, &range));
    ridge_collective_study_fill(study, dtype, sweep ? &range : NULL);
    return RIDGE_OK;
}

static int write_page(cli_run *run, const ridge_collective_study *study)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_collective_write_html(run->cx, study, &page);
    return cli_emit_html(run, &page);
}

static ridge_status read_message(cli_run *run, ridge_message_view *out)
{
    ridge_collective kind;
    out->from = cli_option_text(run, "from");
    out->to = cli_option_text(run, "to");
    RIDGE_TRY(ridge_collective_parse(run->cx, run->args[0], &kind));
    if (!out->from || !out->to || kind != RIDGE_COLLECTIVE_SEND_RECV ||
        cli_option_text(run, "over") || cli_option_text(run, "sweep") || run->html_path)
        return ridge_fail(
            run->cx, RIDGE_E_ARG,
            "--from and --to are the two ends of one message: ridge "
            "collective send-recv 16MiB --on v5e:4x4 --from 0,0 --to 3,3");
    RIDGE_TRY(read_size(run, &out->bytes));
    RIDGE_TRY(cli_slice(run, &out->slice));
    return ridge_message_route_parse(run->cx, out->slice, out->from, out->to,
                                     &out->route);
}

static int run_message(cli_run *run)
{
    ridge_message_view view;
    if (read_message(run, &view) != RIDGE_OK)
        return cli_fail(run);
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_message_write_json(&view, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_message_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static int run_collective(cli_run *run)
{
    if (cli_option_text(run, "from") || cli_option_text(run, "to"))
        return run_message(run);
    ridge_collective_study study = {.slice = NULL};
    if (fill_study(run, &study) != RIDGE_OK)
        return cli_fail(run);
    int code = run->html_path ? write_page(run, &study) : 0;
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_collective_write_json(run->cx, &study, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_collective_write_text(run->cx, &study, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static const cli_option options[] = {
    {"on", "SLICE", "where: v5p:8x16x16, h100:16x8 (nodes x chips), 2*v5p:4x4x4"},
    {"over", "AXES", "network axes: x,y or nvlink, a part: x=4; all of them (default)"},
    {"from", "PLACE", "send-recv of one message on a torus: from this chip, 0,0"},
    {"to", "PLACE", "to that one: 3,3"},
    {"dtype", "DTYPE", "format whose FLOPs are set against the network (bf16)"},
    {"sweep", "RANGE", "sizes too: 1KiB..4GiB (powers of two), 1MB..1GB*10"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_collective = {
    .name = "collective",
    .summary = "the time of a collective, by algorithm",
    .synopsis = "KIND SIZE",
    .detail =
        "KIND is all-gather (ag), reduce-scatter (rs), all-reduce (ar), all-to-all\n"
        "(a2a), broadcast or send-recv. SIZE is the global array of one group: what "
        "an\n"
        "all-gather leaves on each chip, what a reduce-scatter or all-reduce starts\n"
        "from, all bytes that an all-to-all moves between the group's chips, one\n"
        "message of a broadcast or a send-recv.\n"
        "\n"
        "Every chip of the slice takes part in a group of its own. The bound is the\n"
        "busiest link at its nominal rate, or the hops. The expected time adds what\n"
        "links achieve at this size, latencies and the software's start.",
    .example = "ridge collective all-gather 1GiB --on v5p:8x16x16 --over x",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .run = run_collective,
};
