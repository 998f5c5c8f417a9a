/* How fast a 61-layer mixture of experts is partitioned over meshes of up to five axes.
 */
#include "stopwatch.h"

#include "ridge/shard.h"

/* One way, and how often it is partitioned in a run. */
typedef struct load {
    ridge_ctx *cx;
    const ridge_program *program;
    ridge_mesh mesh;
    const ridge_rule *rules;
    int n_rules;
} load;

enum { PARTITIONS = 20 };

static double partition_often(void *payload)
{
    const load *l = payload;
    ridge_arena *arena = ridge_ctx_arena(l->cx);
    for (int i = 0; i < PARTITIONS; i++) {
        const ridge_partition *p = NULL;
        const ridge_mark mark = ridge_arena_mark(arena);
        if (ridge_partition_build(l->cx, l->program, &l->mesh, l->rules, l->n_rules,
                                  NULL, NULL, &p) != RIDGE_OK)
            return -1.0;
        ridge_arena_rewind(arena, mark);
    }
    return PARTITIONS;
}

static ridge_status lower(ridge_ctx *cx, const char *name, const ridge_program **out)
{
    const ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                                .sequences = 1024,
                                .query_tokens = 4096,
                                .context_tokens = 4096,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    const ridge_library *library = NULL;
    const ridge_model *model = NULL;
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_model_load(cx, library, name, &model));
    return ridge_program_lower(cx, model, &how, out);
}

int main(void)
{
    static const struct {
        const char *name, *model;
        ridge_parallelism degrees;
    } rows[] = {
        {"partition_dense_tp",
         "llama-3-70b",
         {.dp = 8, .fsdp = 1, .ep = 1, .cp = 1, .tp = 8}},
        {"partition_moe_5_axes",
         "deepseek-v3",
         {.dp = 2,
          .fsdp = 8,
          .ep = 8,
          .cp = 2,
          .tp = 4,
          .zero_stage = 3,
          .is_sequence_parallel = true,
          .is_vocab_parallel = true}},
    };
    ridge_ctx *cx = ridge_ctx_open();
    int code = !cx;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && !code; i++) {
        load l = {.cx = cx};
        code = lower(cx, rows[i].model, &l.program) != RIDGE_OK ||
               ridge_parallelism_rules(cx, l.program, &rows[i].degrees, &l.mesh,
                                       &l.rules, &l.n_rules) != RIDGE_OK;
        const bench b = {.name = rows[i].name,
                         .unit = "partitions/s",
                         .run = partition_often,
                         .payload = &l};
        if (!code)
            code = bench_report(&b, NULL);
    }
    ridge_ctx_close(cx);
    return code;
}
