/*
 * ridge model: what a model is made of and what it takes.
 */
#include "cli.h"
#include "model_program.h"
#include "model_routing.h"

#include "ridge/report.h"

static int run_catalogue(cli_run *run, const ridge_library *library)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        if (ridge_library_write_html(run->cx, library, &text) != RIDGE_OK)
            return cli_fail(run);
        int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        if (ridge_library_write_json(run->cx, library, object) != RIDGE_OK)
            return cli_fail(run);
        return cli_emit_json(run, object);
    }
    if (ridge_library_write_text(run->cx, library, run->has_colour, &text) != RIDGE_OK)
        return cli_fail(run);
    return cli_emit_text(run, &text);
}

/** The checkpoint to compare with: that of --checkpoint, or one beside the config. */
static ridge_status check_checkpoint(cli_run *run, ridge_model_view *view,
                                     ridge_checkpoint *room)
{
    const char *path = cli_option_text(run, "checkpoint");
    if (!path)
        path = ridge_checkpoint_find(run->cx, run->args[0]);
    if (!path)
        return RIDGE_OK;
    RIDGE_TRY(ridge_checkpoint_check(run->cx, view->model, path, room));
    view->checkpoint = room;
    return RIDGE_OK;
}

static ridge_status make_view(cli_run *run, ridge_model_view *view,
                              ridge_checkpoint *room)
{
    RIDGE_TRY(cli_model(run, run->args[0], &view->model));
    RIDGE_TRY(cli_option_whole(run, "seq", ridge_model_view_seq(view->model),
                               CLI_SEQ_TOKENS_MOST, &view->seq_tokens));
    if (view->seq_tokens < 1)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--seq must be at least 1 token");
    return check_checkpoint(run, view, room);
}

/* The chip alone: how many there were is in the chip-hours. */
static ridge_status read_chip(cli_run *run, const ridge_chip **out)
{
    const char *text = cli_option_text(run, "on");
    const ridge_catalog *catalog;
    const ridge_slice *slice;
    RIDGE_TRY(cli_catalog(run, &catalog));
    if (ridge_chip_find(run->cx, catalog, text, out) == RIDGE_OK)
        return RIDGE_OK;
    const char *complaint =
        ridge_sprintf(ridge_ctx_arena(run->cx), "%s", ridge_ctx_message(run->cx));
    if (ridge_slice_parse(run->cx, catalog, text, &slice) != RIDGE_OK)
        return ridge_fail(run->cx, RIDGE_E_NOTFOUND, "%s", complaint);
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "'%s' is a slice: a past run wants its chip alone, --on %s, for "
                      "--chip-hours are those of all chips",
                      text, slice->chip->name);
}

/* Tokens, chip-hours and the chip of a run: all of them or none. */
static ridge_status read_run(cli_run *run, ridge_model_view *view, ridge_past_run *room)
{
    static const char *const names[] = {"tokens", "chip-hours", "on"};
    int given = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++)
        given += cli_option_text(run, names[i]) != NULL;
    if (given == 0)
        return RIDGE_OK;
    if (given < (int)RIDGE_COUNT_OF(names))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "the MFU of a run needs its --tokens, its --chip-hours and "
                          "its chip: --on h800");
    RIDGE_TRY(cli_option_count(run, "tokens", 0, &room->tokens));
    RIDGE_TRY(cli_option_count(run, "chip-hours", 0, &room->chip_hours));
    if (!(room->tokens > 0) || !(room->chip_hours > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--tokens and --chip-hours of a run must be above 0");
    RIDGE_TRY(read_chip(run, &room->chip));
    view->run = room;
    return RIDGE_OK;
}

static int write_page(cli_run *run, const ridge_model_view *view)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_model_write_html(run->cx, view, &page);
    return cli_emit_html(run, &page);
}

static ridge_status check_options(cli_run *run)
{
    static const char *const of_models[] = {
        "seq", "program", "checkpoint", "tokens", "chip-hours", "on", NULL};
    static const char *const of_programs[] = {"phase", "batch", "context", NULL};
    if (run->n_args == 0)
        RIDGE_TRY(cli_refuse_options(run, of_models, "is of a model: name one"));
    if (cli_option_text(run, "program") != NULL)
        return RIDGE_OK;
    return cli_refuse_options(run, of_programs, "is of --program: give that too");
}

static int run_model(cli_run *run)
{
    const ridge_library *library = NULL;
    ridge_model_view view = {.model = NULL};
    ridge_checkpoint room = {.path = NULL};
    ridge_past_run past;
    bool is_routing;
    if (check_options(run) != RIDGE_OK || cli_library(run, &library) != RIDGE_OK ||
        cli_routing_is_asked(run, &is_routing) != RIDGE_OK)
        return cli_fail(run);
    if (run->n_args == 0)
        return is_routing ? cli_model_routing(run, NULL) : run_catalogue(run, library);
    if (make_view(run, &view, &room) != RIDGE_OK ||
        read_run(run, &view, &past) != RIDGE_OK)
        return cli_fail(run);
    if (is_routing)
        return cli_model_routing(run, view.model);
    if (cli_option_text(run, "program"))
        return cli_model_program(run, view.model, view.seq_tokens);
    int code = run->html_path ? write_page(run, &view) : 0;
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_model_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_model_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static const cli_option options[] = {
    {"seq", "T", "tokens of a sequence (4096, or the model's context if shorter)"},
    {"program", NULL, "print the program that a phase lowers to"},
    {"phase", "PHASE", "of the program: train (default), prefill or decode"},
    {"batch", "B", "sequences of the program (1)"},
    {"context", "S", "tokens in the cache of a decode program (--seq)"},
    {"checkpoint", "FILE", "weight index or safetensors file to compare with"},
    {"tokens", "N", "of a run that is over: its MFU is told"},
    {"chip-hours", "H", "that the run took"},
    {"on", "CHIP", "that it ran on"},
    {"routed", "TOKENS",
     "dealt to the experts of a mixture by chance: the fullest, what goes where"},
    {"experts", "E/K", "of the tokens' choice, without a MODEL or instead of its own"},
    {"ep", "RANKS", "that hold the experts (1)"},
    {"capacity", "C", "factor: an expert takes C times the mean, what is dropped"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_model = {
    .name = "model",
    .summary = "parameters, FLOPs, KV cache and memory of a model",
    .synopsis = "[MODEL]",
    .detail =
        "MODEL is a name of the catalogue, a config.json of Hugging Face or its "
        "folder,\n"
        "a .gguf of llama.cpp (its header is read), or a .json in the catalogue's own\n"
        "format. Without one: the catalogue.\n"
        "\n"
        "FLOPs of a token are given under every convention by name, because published\n"
        "MFU figures differ in what they count. Weight files beside a config.json, "
        "and\n"
        "the tensors of a .gguf, are compared with what the config predicts.\n"
        "\n"
        "--tokens, --chip-hours and --on CHIP of a run that is over give its MFU:\n"
        "  ridge model deepseek-v3 --tokens 14.8T --chip-hours 2.664M --on h800\n"
        "\n"
        "--routed TOKENS deals tokens to the experts of a mixture at random: rows of "
        "the\n"
        "fullest expert and rank, ranks that a token reaches, what a capacity drops:\n"
        "  ridge model deepseek-v3 --routed 4096 --ep 64 --capacity 1.25\n"
        "\n"
        "--program prints the operations of a phase over tensors with named dims, the\n"
        "notation that `ridge shard --program` reads.",
    .example = "ridge model llama-3-70b",
    .options = options,
    .min_args = 0,
    .max_args = 1,
    .run = run_model,
};
