/* A layout's operations with their predicted times, by the same program that runs. */
#include "plan_match.h"

#include "ridge/plan_timeline.h"

#include <string.h>

static ridge_profile_class collective_class(int collective)
{
    static const ridge_profile_class classes[] = {
        [RIDGE_COLLECTIVE_ALL_GATHER] = RIDGE_CLASS_ALL_GATHER,
        [RIDGE_COLLECTIVE_REDUCE_SCATTER] = RIDGE_CLASS_REDUCE_SCATTER,
        [RIDGE_COLLECTIVE_ALL_REDUCE] = RIDGE_CLASS_ALL_REDUCE,
        [RIDGE_COLLECTIVE_ALL_TO_ALL] = RIDGE_CLASS_ALL_TO_ALL,
        [RIDGE_COLLECTIVE_BROADCAST] = RIDGE_CLASS_BROADCAST,
        [RIDGE_COLLECTIVE_SEND_RECV] = RIDGE_CLASS_SEND_RECV,
    };
    _Static_assert(RIDGE_COUNT_OF(classes) == RIDGE_COLLECTIVE_COUNT,
                   "one row per enum value");
    return classes[collective];
}

static ridge_profile_class class_of(const ridge_operation *op)
{
    switch (op->code) {
    case RIDGE_OPCODE_EINSUM:
        return RIDGE_CLASS_MATMUL;
    case RIDGE_OPCODE_ATTENTION:
    case RIDGE_OPCODE_SCAN:
        return RIDGE_CLASS_ATTENTION;
    case RIDGE_OPCODE_NORM:
        return RIDGE_CLASS_NORM;
    case RIDGE_OPCODE_ELEMENTWISE:
        return RIDGE_CLASS_ELEMENTWISE;
    case RIDGE_OPCODE_GATHER:
        return RIDGE_CLASS_GATHER;
    case RIDGE_OPCODE_LOSS:
        return RIDGE_CLASS_SOFTMAX;
    case RIDGE_OPCODE_ROUTE:
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COMBINE:
        return RIDGE_CLASS_ROUTING;
    case RIDGE_OPCODE_UPDATE:
        return RIDGE_CLASS_OPTIMIZER;
    case RIDGE_OPCODE_COLLECTIVE:
        return collective_class(op->collective);
    case RIDGE_OPCODE_SEND:
        return RIDGE_CLASS_SEND_RECV;
    }
    return RIDGE_CLASS_OTHER;
}

/* Blocks of the update run once a step, all others with every microbatch. */
static bool is_update(const ridge_block *block)
{
    const char *end = "_update";
    const size_t n = strlen(block->name);
    return n >= strlen(end) && strcmp(block->name + n - strlen(end), end) == 0;
}

/* ---- stages -----------------------------------------------------------------------
 */

/** Which share of a block's repetitions the ranks of a profile run. */
typedef struct stage_table {
    const ridge_layout *layout;
    const ridge_stage_row *rows; /* NULL: one stage has all */
    int n;
    int64_t per_stage; /* ranks */
} stage_table;

static int64_t count_layers(const ridge_program *program)
{
    int64_t all = 0;
    for (int b = 0; b < program->n_blocks; b++)
        all += program->blocks[b].layer >= 0 && program->blocks[b].forward_of < 0
                   ? program->blocks[b].repeat
                   : 0;
    return all;
}

/* On dualpipe a stage lies on two ranks, rank r having stages r and pp - 1 - r; half of
 * the microbatches go through each, and both update all of its weights. */
static bool is_dual(const ridge_layout *layout)
{
    return layout->pp > 1 && layout->schedule == RIDGE_SCHEDULE_DUALPIPE;
}

static ridge_status make_table(ridge_ctx *cx, const ridge_train_request *request,
                               const ridge_layout *layout, const ridge_program *program,
                               stage_table *out)
{
    const int64_t chunks = is_dual(layout)                       ? 1
                           : ridge_layout_has_two_chunks(layout) ? 2
                           : layout->vpp > 1                     ? layout->vpp
                                                                 : 1;
    const int64_t stages = layout->pp * chunks;
    *out = (stage_table){.layout = layout,
                         .per_stage = request->slice->chips / layout->pp};
    if (stages == 1)
        return RIDGE_OK;
    int64_t *layers = ridge_new(ridge_ctx_arena(cx), int64_t, (size_t)stages);
    if (layers == NULL)
        return ridge_fail_nomem(cx);
    for (int64_t s = 0; s < stages; s++)
        layers[s] = ridge_layout_stage_layers(layout, count_layers(program), s);
    return ridge_pipeline_rows_of(cx, program, layers, (int)stages, &out->rows,
                                  &out->n);
}

/* Stage c pp + r is chunk c of rank r, of two-chunk schedules in reverse order. */
static int64_t rank_of_stage(const stage_table *t, int stage)
{
    const int64_t chunk = stage / t->layout->pp, at = stage % t->layout->pp;
    return ridge_layout_has_two_chunks(t->layout) && chunk % 2 == 1
               ? t->layout->pp - 1 - at
               : at;
}

/* Ranks of a pipeline whose traces were read; of none is known, all. */
static bool is_read(const ridge_profile *p, const stage_table *t, int64_t pipeline_rank)
{
    bool is_told = false;
    for (int d = 0; d < p->n_devices; d++) {
        const int rank = p->devices[d].rank;
        if (rank < 0)
            continue;
        is_told = true;
        if (rank / t->per_stage == pipeline_rank)
            return true;
    }
    return !is_told;
}

static double stages_read(const ridge_profile *p, const stage_table *t)
{
    double n = 0;
    for (int64_t r = 0; r < t->layout->pp; r++)
        n += is_read(p, t, r);
    return n > 0 ? n : 1;
}

/* How much of a stage's work for a block the ranks that were read do. */
static double share_read(const ridge_profile *p, const stage_table *t,
                         const ridge_block *block, int stage)
{
    const double own = is_read(p, t, rank_of_stage(t, stage));
    if (!is_dual(t->layout))
        return own;
    const double both = own + is_read(p, t, t->layout->pp - 1 - stage);
    return is_update(block) ? both : 0.5 * both;
}

/* Repetitions of a block on a rank that was read, on average. */
static double repeats_of(const ridge_profile *p, const stage_table *t,
                         const ridge_block *block, int at)
{
    double all = 0;
    if (t->rows == NULL)
        return (double)block->repeat;
    for (int k = 0; k < t->n; k++) {
        if (t->rows[k].block == at)
            all += (double)t->rows[k].count * share_read(p, t, block, t->rows[k].stage);
    }
    return all / stages_read(p, t);
}

/* ---- operations -------------------------------------------------------------------
 */

/** A plan's operations while they are counted. */
typedef struct predicting {
    const ridge_program *program;
    const ridge_operation_time *times;
    double microbatches;
    predicted_ops *out;
} predicting;

static void block_add(const predicting *x, int at, double repeat)
{
    const ridge_block *block = &x->program->blocks[at];
    const double count = repeat * (is_update(block) ? 1 : x->microbatches);
    if (count <= 0)
        return;
    for (int i = block->first_op; i < block->first_op + block->n_ops; i++) {
        const ridge_operation *op = &x->program->ops[i];
        x->out->ops[x->out->n++] =
            (predicted_op){.name = op->name,
                           .block = block->name,
                           .class = class_of(op),
                           .count = count,
                           .time_s = count * x->times[i].expected_s,
                           .flops = x->times[i].matmul_flops};
    }
}

ridge_status plan_match_predict(ridge_ctx *cx, const ridge_profile *profile,
                                const ridge_train_request *request,
                                const ridge_layout *layout, double microbatches,
                                predicted_ops *out)
{
    ridge_layout_cut cut;
    stage_table table;
    RIDGE_TRY(ridge_train_cut(cx, request, layout, &cut));
    const ridge_program *program = cut.partition->program;
    ridge_operation_time *times =
        ridge_new(ridge_ctx_arena(cx), ridge_operation_time, (size_t)program->n_ops);
    predicted_ops p = {.n = 0};
    p.ops = ridge_new(ridge_ctx_arena(cx), predicted_op, (size_t)program->n_ops);
    if (times == NULL || p.ops == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_operation_times(cx, cut.partition, &cut.laid,
                                    ridge_precision_policy(layout->precision)->compute,
                                    times));
    RIDGE_TRY(make_table(cx, request, layout, program, &table));
    const predicting x = {program, times, microbatches, &p};
    for (int i = 0; i < program->n_blocks; i++)
        block_add(&x, i, repeats_of(profile, &table, &program->blocks[i], i));
    p.stages = table.rows ? stages_read(profile, &table) : 0;
    *out = p;
    return RIDGE_OK;
}
