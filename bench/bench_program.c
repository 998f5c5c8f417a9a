/* How fast models become programs, with backward pass and optimizer, and how fast the
 * notation is written and read. */
#include "stopwatch.h"

#include "ridge/program.h"

#include <stdio.h>

enum { TOKENS = 8192, TIMES = 100 };

static const ridge_model *load(ridge_ctx *cx, const char *name)
{
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    if (ridge_library_open(cx, NULL, &library) != RIDGE_OK ||
        ridge_model_load(cx, library, name, &model) != RIDGE_OK)
        return NULL;
    return model;
}

static ridge_status lower(ridge_ctx *cx, const ridge_model *model,
                          const ridge_program **out)
{
    const ridge_lowering how =
        ridge_lowering_usual(model, RIDGE_PHASE_TRAIN, 1, TOKENS);
    return ridge_program_lower(cx, model, &how, out);
}

/* @return programs made */
static double lower_once(void *payload)
{
    const ridge_model *model = payload;
    for (int i = 0; i < TIMES; i++) {
        const ridge_program *program = NULL;
        ridge_ctx *cx = ridge_ctx_open();
        if (cx == NULL)
            return -1;
        const ridge_status st = lower(cx, model, &program);
        ridge_ctx_close(cx);
        if (st != RIDGE_OK)
            return -1;
    }
    return TIMES;
}

static double write_once(void *payload)
{
    const ridge_program *program = payload;
    double bytes = 0;
    for (int i = 0; i < TIMES; i++) {
        ridge_ctx *cx = ridge_ctx_open();
        if (cx == NULL)
            return -1;
        ridge_buf text;
        ridge_buf_init(&text, ridge_ctx_arena(cx));
        ridge_program_write(program, &text);
        bytes += (double)text.n;
        ridge_ctx_close(cx);
    }
    return bytes / RIDGE_MB;
}

static double parse_once(void *payload)
{
    const ridge_str *text = payload;
    for (int i = 0; i < TIMES; i++) {
        const ridge_program *program = NULL;
        ridge_ctx *cx = ridge_ctx_open();
        if (cx == NULL)
            return -1;
        const ridge_status st = ridge_program_parse(cx, *text, "bench", &program);
        ridge_ctx_close(cx);
        if (st != RIDGE_OK)
            return -1;
    }
    return TIMES * (double)text->n / RIDGE_MB;
}

static int measure_lowering(ridge_ctx *cx)
{
    static const char *const MODELS[] = {"llama-3-70b", "deepseek-v3", "gpt-oss-120b"};
    int code = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(MODELS); i++) {
        const ridge_model *model = load(cx, MODELS[i]);
        if (model == NULL)
            return 1;
        const bench b = {
            .name = ridge_sprintf(ridge_ctx_arena(cx), "program_lower %s", MODELS[i]),
            .unit = "programs/s",
            .run = lower_once,
            .payload = (void *)(uintptr_t)model};
        code |= bench_report(&b, NULL);
    }
    return code;
}

static int measure_text(ridge_ctx *cx)
{
    const ridge_model *model = load(cx, "deepseek-v3");
    const ridge_program *program = NULL;
    ridge_buf out;
    if (model == NULL || lower(cx, model, &program) != RIDGE_OK)
        return 1;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_program_write(program, &out);
    ridge_str text = {out.p, out.n};
    const bench writing = {.name = "program_write",
                           .unit = "MB/s",
                           .run = write_once,
                           .payload = (void *)(uintptr_t)program};
    const bench reading = {
        .name = "program_parse", .unit = "MB/s", .run = parse_once, .payload = &text};
    return bench_report(&writing, NULL) | bench_report(&reading, NULL);
}

int main(void)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return 1;
    const int code = measure_lowering(cx) | measure_text(cx);
    if (code != 0)
        fprintf(stderr, "bench: %s\n", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return code;
}
