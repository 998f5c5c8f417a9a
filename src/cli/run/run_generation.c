/*
 * Text from the command line: the prompt, the weights, tokens printed as they come.
 */
#include "run_plan.h"

#include "ridge/model_gguf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct telling {
    cli_run *run;
    ridge_decoder decoder;
    ridge_buf text; /* --json */
    FILE *stream;
} telling;

static bool tell(void *payload, int32_t token)
{
    telling *t = payload;
    const ridge_str piece = ridge_decoder_next(&t->decoder, token);
    if (t->run->is_json) {
        ridge_buf_add(&t->text, piece);
        return true;
    }
    fwrite(piece.p, 1, piece.n, t->stream);
    return fflush(t->stream) == 0;
}

/* ---- what to begin with ------------------------------------------------------------
 */

static bool has_file(cli_run *run, const char *folder, const char *name,
                     const char **out)
{
    const char *path = ridge_sprintf(ridge_ctx_arena(run->cx), "%s/%s", folder, name);
    if (!path || !ridge_path_is_dir(folder) || !ridge_path_exists(path))
        return false;
    *out = path;
    return true;
}

/* The folder of a file, or the folder itself. */
static const char *folder_of(cli_run *run, const char *path)
{
    const char *end = ridge_path_is_dir(path) ? NULL : strrchr(path, '/');
    if (ridge_path_is_dir(path))
        return path;
    return end ? ridge_sprintf(ridge_ctx_arena(run->cx), "%.*s", (int)(end - path),
                               path)
               : ".";
}

/* --tokenizer, else what lies beside the weights, or beside the model of published
 * ones. Bytes are for what was trained on them: published weights have words of their
 * own. */
static ridge_status find_tokenizer(cli_run *run, const run_plan *p,
                                   const ridge_generate_run *g, const char **out)
{
    enum { BYTES = 256 };
    char sized[32]; /* as llama2.c calls those of a few words */
    snprintf(sized, sizeof sized, "tok%.0f.bin", (double)p->model->vocab);
    const char *const names[] = {"tokenizer.json", "tokenizer.bin", sized};
    const char *const places[] = {g->weights ? g->weights : g->checkpoint,
                                  g->weights ? p->model_path : NULL};
    *out = cli_option_text(run, "tokenizer");
    for (size_t i = 0; i < RIDGE_COUNT_OF(places); i++) {
        for (size_t k = 0; places[i] && k < RIDGE_COUNT_OF(names) && !*out; k++) {
            const char *folder = folder_of(run, places[i]);
            if (!folder)
                return ridge_fail_nomem(run->cx);
            has_file(run, folder, names[k], out);
        }
    }
    if (!*out && g->weights && p->model->vocab > BYTES)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "%s has %.0f words and no tokenizer beside it: give one with "
                          "--tokenizer tokenizer.json, tokenizer.bin or bytes",
                          g->weights, (double)p->model->vocab);
    *out = *out ? *out : "bytes";
    return RIDGE_OK;
}

/* --weights or --checkpoint; a model that is a file or folder of weights is both. */
static ridge_status find_weights(cli_run *run, const run_plan *p, ridge_generate_run *g)
{
    const char *found;
    g->weights = cli_option_text(run, "weights");
    g->checkpoint = cli_option_text(run, "checkpoint");
    if (g->weights || g->checkpoint)
        return RIDGE_OK;
    if (ridge_llama2c_is_checkpoint(p->model_path) ||
        ridge_gguf_is_path(p->model_path) || /* whose reader says what it lacks */
        has_file(run, p->model_path, "model.safetensors", &found) ||
        has_file(run, p->model_path, "model.safetensors.index.json", &found)) {
        g->weights = p->model_path;
        return RIDGE_OK;
    }
    return ridge_fail(
        run->cx, RIDGE_E_ARG,
        "text needs weights: --weights FOLDER or FILE, or --checkpoint DIR "
        "of a run");
}

static ridge_status read_prompt(cli_run *run, const ridge_tokenizer *t,
                                ridge_generate_run *g)
{
    const char *prompt = cli_option_text(run, "prompt");
    ridge_tokens tokens;
    RIDGE_TRY(ridge_tokenizer_encode(run->cx, t, ridge_str_of(prompt ? prompt : ""),
                                     RIDGE_ENCODE_BOS, &tokens));
    g->prompt = tokens.ids;
    g->n_prompt = (int64_t)tokens.n;
    if (tokens.n > 0)
        return RIDGE_OK;
    int32_t *first = ridge_new(ridge_ctx_arena(run->cx), int32_t, 1);
    if (first == NULL)
        return ridge_fail_nomem(run->cx);
    /* nothing to begin with: the token that begins texts, else a line end */
    const int32_t bos = ridge_tokenizer_bos(t), eos = ridge_tokenizer_eos(t);
    *first = bos >= 0 ? bos : eos >= 0 ? eos : '\n';
    g->prompt = first;
    g->n_prompt = 1;
    return RIDGE_OK;
}

/* ---- options -----------------------------------------------------------------------
 */

static ridge_status read_sampling(cli_run *run, ridge_generate_run *g)
{
    double n, k, seed;
    RIDGE_TRY(cli_option_count(run, "temperature", 0.0, &g->sampling.temperature));
    RIDGE_TRY(cli_option_count(run, "top-p", 1.0, &g->sampling.top_p));
    RIDGE_TRY(cli_option_whole(run, "top-k", 0, 1e9, &k));
    RIDGE_TRY(cli_option_whole(run, "seed", 1, 9e15, &seed));
    RIDGE_TRY(cli_option_count(run, "tokens", 256, &n));
    if (n < 1 || n > 1e7 || floor(n) != n)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--tokens: 1 to 10M new tokens");
    g->n_new = (int64_t)n;
    g->sampling.top_k = (int64_t)k;
    g->sampling.seed = (uint64_t)seed;
    return RIDGE_OK;
}

/* A model was trained on so many positions: the text ends there. */
static void limit_tokens(const run_plan *p, ridge_generate_run *g)
{
    const int64_t most = p->model->max_positions;
    if (most > 0 && g->n_prompt < most && g->n_prompt + g->n_new > most)
        g->n_new = most - g->n_prompt;
}

static int emit(cli_run *run, const run_plan *p, const ridge_generate_run *g,
                const ridge_generate_report *r, const ridge_buf *text)
{
    const char *format = cli_run_format_text(run, p);
    const double rate =
        r->n > 1 && r->decode_s > 0.0 ? (double)(r->n - 1) / r->decode_s : 0.0;
    const char *speed = ridge_sprintf(
        ridge_ctx_arena(run->cx), "%lld prompt tokens in %s, %lld new ones at %s",
        (long long)g->n_prompt, ridge_format_seconds(r->prefill_s).s, (long long)r->n,
        ridge_format_si(rate, "tokens/s").s);
    const int code = cli_emit_listing(run, g->model->name, speed != NULL ? speed : "",
                                      ridge_buf_text(text));
    if (code)
        return code;
    if (!run->is_json) {
        printf("\n");
        fprintf(stderr, "%s\n", speed != NULL ? speed : "");
        if (format != NULL)
            fprintf(stderr, "%s\n", format);
        return 0;
    }
    ridge_json *object = cli_json_begin(run);
    ridge_json_set_text(object, "model", g->model->name);
    ridge_json_set_text(object, "layout", ridge_run_layout_text(run->cx, &g->layout));
    ridge_json_set_text(object, "text", ridge_buf_text(text));
    ridge_json *tokens = ridge_json_set_array(run->cx, object, "tokens");
    for (int64_t i = 0; i < r->n; i++)
        ridge_json_push_i64(tokens, r->tokens[i]);
    ridge_json_set_i64(object, "prompt_tokens", g->n_prompt);
    ridge_json_set_double(object, "prefill_s", r->prefill_s);
    ridge_json_set_double(object, "decode_s", r->decode_s);
    ridge_json_set_double(object, "tokens_per_s", rate);
    cli_run_set_format(run, p, object);
    return cli_emit_json(run, object);
}

static ridge_status open_run(cli_run *run, const run_plan *p, ridge_generate_run *g,
                             const ridge_tokenizer **tokenizer)
{
    *g = (ridge_generate_run){.model = p->model,
                              .numerics = p->numerics,
                              .layout = p->layout,
                              .ranks = p->ranks,
                              .threads = p->threads,
                              .measured = p->measured};
    RIDGE_TRY(find_weights(run, p, g));
    const char *path;
    RIDGE_TRY(find_tokenizer(run, p, g, &path));
    RIDGE_TRY(ridge_tokenizer_open(run->cx, path, p->model->vocab, tokenizer));
    RIDGE_TRY(read_prompt(run, *tokenizer, g));
    RIDGE_TRY(read_sampling(run, g));
    limit_tokens(p, g);
    /* Either token ends a text: models without an end token begin the next one. */
    const int32_t eos = ridge_tokenizer_eos(*tokenizer);
    g->stop = ridge_tokenizer_kind_of(*tokenizer) == RIDGE_TOKENIZER_LLAMA2C
                  ? ridge_tokenizer_bos(*tokenizer)
                  : eos;
    return RIDGE_OK;
}

int cli_run_generation(cli_run *run, const run_plan *p)
{
    ridge_generate_run g;
    ridge_generate_report report;
    const ridge_tokenizer *tokenizer;
    telling t = {.run = run, .stream = stdout};
    if (open_run(run, p, &g, &tokenizer) != RIDGE_OK)
        return cli_fail(run);
    ridge_buf_init(&t.text, ridge_ctx_arena(run->cx));
    t.decoder = ridge_decoder_start(tokenizer);
    g.watch = tell;
    g.payload = &t;
    for (int64_t i = 0; i < g.n_prompt && cli_run_is_lead(); i++) {
        if (cli_option_text(run, "prompt"))
            tell(&t, g.prompt[i]);
        else
            ridge_decoder_next(&t.decoder, g.prompt[i]);
    }
    if (ridge_run_generate(run->cx, &g, &report) != RIDGE_OK)
        return cli_fail(run);
    return cli_run_is_lead() ? emit(run, p, &g, &report, &t.text) : 0;
}
