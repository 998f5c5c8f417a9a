/* How long a layout of a large model of experts takes: cut, priced, played. */
#include "stopwatch.h"

#include "ridge/cost_program.h"

enum { REPEATS = 100 };

typedef struct load {
    const ridge_program *program;
    const ridge_slice *slice;
    ridge_mesh mesh;
    const ridge_rule *rules;
    int n_rules;
    const ridge_partition *partition;
    ridge_laid_mesh laid;
    ridge_operation_time *times; /* [n_ops] */
} load;

static const ridge_overlap OVERLAP = {
    .has_prefetch = true, .has_trailing = true, .has_collective_matmul = true};

/* On one request whose memory is used again, as a search does. */
static double each(double (*one)(ridge_ctx *cx, load *l), load *l)
{
    ridge_ctx *cx = ridge_ctx_open();
    double done = cx == NULL ? -1 : 0;
    for (int i = 0; i < REPEATS && done >= 0; i++) {
        ridge_arena *const arenas[] = {ridge_ctx_arena(cx), ridge_ctx_scratch(cx)};
        const ridge_mark marks[] = {ridge_arena_mark(arenas[0]),
                                    ridge_arena_mark(arenas[1])};
        done += one(cx, l);
        for (size_t k = 0; k < RIDGE_COUNT_OF(arenas); k++)
            ridge_arena_rewind(arenas[k], marks[k]);
    }
    ridge_ctx_close(cx);
    return done;
}

static double cut_one(ridge_ctx *cx, load *l)
{
    const ridge_partition *p = NULL;
    return ridge_partition_build(cx, l->program, &l->mesh, l->rules, l->n_rules, NULL,
                                 NULL, &p) == RIDGE_OK
               ? 1
               : -2 * REPEATS;
}

static double price_one(ridge_ctx *cx, load *l)
{
    return ridge_operation_times(cx, l->partition, &l->laid, RIDGE_DTYPE_BF16,
                                 l->times) == RIDGE_OK
               ? 1
               : -2 * REPEATS;
}

static double play(ridge_ctx *cx, const load *l, const ridge_partition *p)
{
    ridge_timeline t;
    return ridge_timeline_price(cx, p, &l->laid, RIDGE_DTYPE_BF16, &OVERLAP, &t) ==
                   RIDGE_OK
               ? 1
               : -2 * REPEATS;
}

static double play_one(ridge_ctx *cx, load *l)
{
    return play(cx, l, l->partition);
}

static double all_one(ridge_ctx *cx, load *l)
{
    const ridge_partition *p = NULL;
    if (ridge_partition_build(cx, l->program, &l->mesh, l->rules, l->n_rules, NULL,
                              NULL, &p) != RIDGE_OK)
        return -2 * REPEATS;
    return play(cx, l, p);
}

static double cut(void *payload)
{
    return each(cut_one, payload);
}

static double price(void *payload)
{
    return each(price_one, payload);
}

static double timeline(void *payload)
{
    return each(play_one, payload);
}

static double all(void *payload)
{
    return each(all_one, payload);
}

/* 61 layers of DeepSeek-V3 over five axes of 256 GPUs. */
static ridge_status open_load(ridge_ctx *cx, load *l)
{
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    const ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                                .sequences = 64,
                                .query_tokens = 4096,
                                .context_tokens = 4096,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    const ridge_parallelism degrees = {.dp = 2,
                                       .fsdp = 2,
                                       .ep = 16,
                                       .cp = 2,
                                       .tp = 2,
                                       .zero_stage = 3,
                                       .is_sequence_parallel = true,
                                       .is_vocab_parallel = true};
    RIDGE_TRY(ridge_catalog_open(cx, NULL, &catalog));
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_model_load(cx, library, "deepseek-v3", &model));
    RIDGE_TRY(ridge_slice_parse(cx, catalog, "h100:32x8", &l->slice));
    RIDGE_TRY(ridge_program_lower(cx, model, &how, &l->program));
    RIDGE_TRY(ridge_parallelism_rules(cx, l->program, &degrees, &l->mesh, &l->rules,
                                      &l->n_rules));
    RIDGE_TRY(ridge_partition_build(cx, l->program, &l->mesh, l->rules, l->n_rules,
                                    NULL, NULL, &l->partition));
    l->times = ridge_new(ridge_ctx_arena(cx), ridge_operation_time,
                         (size_t)l->partition->program->n_ops);
    if (l->times == NULL || !ridge_laid_mesh_fill(l->slice, NULL, &l->mesh, &l->laid))
        return ridge_fail(cx, RIDGE_E_INTERNAL, "the mesh does not lie on the slice");
    return RIDGE_OK;
}

int main(void)
{
    static const struct {
        const char *name, *unit;
        double (*run)(void *payload);
    } rows[] = {{"partition_moe_5_axes", "partitions/s", cut},
                {"price_moe_5_axes", "partitions/s", price},
                {"timeline_moe_5_axes", "timelines/s", timeline},
                {"partition_and_timeline_moe_5_axes", "layouts/s", all}};
    ridge_ctx *cx = ridge_ctx_open();
    load l = {.program = NULL};
    int code = cx == NULL || open_load(cx, &l) != RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && !code; i++) {
        const bench b = {.name = rows[i].name,
                         .unit = rows[i].unit,
                         .run = rows[i].run,
                         .payload = &l};
        code = bench_report(&b, NULL);
    }
    ridge_ctx_close(cx);
    return code;
}
