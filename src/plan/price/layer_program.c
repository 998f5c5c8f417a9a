/*
 * Programs do not grow with the batch, so one is cut for each (tp, cp, ep, SP) and
 * resized for each microbatch. The mesh of a cut has the axes that change a layer's own
 * work: ep (which also cuts the batch), cp and tp. Replicas and ZeRO's shards do the
 * same work on other data; what they exchange is network_time.c's.
 */
#include "layer_program.h"

#include "adapter.h"
#include "kind_runs.h"
#include "named_remat.h"
#include "stack_time.h"

#include "ridge/cost_program.h"
#include "ridge/program_remat.h"
#include "ridge/shard.h"

#include <math.h>
#include <string.h>

enum { CUTS_MOST = 4096 };

typedef struct layer_cut {
    layer_shape shape;                /* of one sequence */
    const ridge_partition *partition; /* of one sequence a batch shard */
    int64_t batch_ways;               /* batch shards: the ep axis */
    /* [n_ops] what the policies do again */
    const bool *elementwise_again, *ffn_again;
} layer_cut;

struct train_programs {
    const ridge_program *program; /* one sequence */
    ridge_product_memo *products;
    int n;
    layer_cut cuts[CUTS_MOST];
};

/* ---- cuts ------------------------------------------------------------------------ */

static ridge_status lower(train_case *tc, const ridge_program **out)
{
    const ridge_model *model = kind_runs_gather(tc->cx, tc->model);
    if (model == NULL)
        return ridge_fail_nomem(tc->cx);
    ridge_dtype stored =
        tc->policy->weight_bytes > 2 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
    int64_t tokens = (int64_t)tc->seq_tokens;
    ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                          .sequences = 1,
                          .query_tokens = tokens,
                          .context_tokens = tokens,
                          .weight = stored,
                          .activation = stored,
                          .cache = stored};
    return ridge_program_lower(tc->cx, model, &how, out);
}

/* The axis of whole experts is what ep has beyond tp. */
static ridge_parallelism degrees_of(const layer_shape *s)
{
    bool is_whole = train_expert_width(s->tp, s->ep) == 1;
    return (ridge_parallelism){.dp = 1,
                               .fsdp = 1,
                               .ep = is_whole ? s->ep / s->tp : s->ep,
                               .cp = s->cp,
                               .tp = s->tp,
                               .is_sequence_parallel = s->has_sp,
                               .is_vocab_parallel = true,
                               .is_expert_whole = is_whole,
                               .context = s->is_all_to_all ? RIDGE_CONTEXT_ALL_TO_ALL
                                                           : RIDGE_CONTEXT_GATHER};
}

/* NULL when memory ran out. */
static const bool *mark_again(const train_case *tc, const ridge_partition *partition,
                              ridge_remat remat)
{
    const ridge_program *p = partition->program;
    bool *again = ridge_new(ridge_ctx_arena(tc->cx), bool, (size_t)p->n_ops);
    for (int b = 0; again != NULL && b < p->n_blocks; b++) {
        if (p->blocks[b].is_backward)
            ridge_program_mark_again(p, b, remat, again);
    }
    return again;
}

static ridge_status make_cut(train_case *tc, const layer_shape *s, layer_cut *out)
{
    const ridge_program *program = tc->programs->program;
    ridge_parallelism degrees = degrees_of(s);
    const ridge_rule *rules;
    ridge_mesh mesh;
    int n;
    layer_cut cut = {.shape = *s, .batch_ways = degrees.ep};
    cut.shape.microbatch_seqs = 1;
    if (degrees.ep > 1)
        RIDGE_TRY(ridge_program_resize(tc->cx, program, "B", degrees.ep, &program));
    RIDGE_TRY(ridge_parallelism_rules(tc->cx, program, &degrees, &mesh, &rules, &n));
    RIDGE_TRY(ridge_partition_build(tc->cx, program, &mesh, rules, n, NULL, NULL,
                                    &cut.partition));
    cut.elementwise_again = mark_again(tc, cut.partition, RIDGE_REMAT_ELEMENTWISE);
    cut.ffn_again = mark_again(tc, cut.partition, RIDGE_REMAT_FFN);
    if (cut.elementwise_again == NULL || cut.ffn_again == NULL)
        return ridge_fail_nomem(tc->cx);
    *out = cut;
    return RIDGE_OK;
}

ridge_status train_programs_open(train_case *tc)
{
    if (tc->programs != NULL)
        return RIDGE_OK;
    struct train_programs *p = ridge_new(ridge_ctx_arena(tc->cx), train_programs, 1);
    if (p == NULL)
        return ridge_fail_nomem(tc->cx);
    p->products = ridge_product_memo_open(tc->cx);
    if (p->products == NULL)
        return ridge_fail_nomem(tc->cx);
    RIDGE_TRY(lower(tc, &p->program));
    tc->programs = p;
    return RIDGE_OK;
}

void train_programs_forget(train_case *tc)
{
    if (tc->programs != NULL)
        tc->programs->n = 0;
}

static ridge_status find_cut(train_case *tc, const layer_shape *s, layer_cut *out)
{
    RIDGE_TRY(train_programs_open(tc));
    train_programs *all = tc->programs;
    layer_shape wanted = *s;
    wanted.microbatch_seqs = 1;
    for (int i = 0; i < all->n; i++) {
        if (layer_shape_is_same(&all->cuts[i].shape, &wanted)) {
            *out = all->cuts[i];
            return RIDGE_OK;
        }
    }
    RIDGE_TRY(make_cut(tc, s, out));
    if (all->n < CUTS_MOST)
        all->cuts[all->n++] = *out;
    return RIDGE_OK;
}

/* The optimizer's blocks come last; they run once a step, see train_price.c. */
static void leave_updates(ridge_program *program)
{
    int n = 0;
    while (n < program->n_blocks &&
           program->ops[program->blocks[n].first_op].code != RIDGE_OPCODE_UPDATE)
        n++;
    if (n == program->n_blocks)
        return;
    program->n_ops = program->blocks[n].first_op;
    program->n_blocks = n;
}

/* The cut with more sequences: B grows, and with it the rows of experts. */
static bool enlarge(train_case *tc, const layer_cut *cut, int64_t sequences,
                    ridge_program *program, ridge_partition *out)
{
    *out = *cut->partition;
    *program = *cut->partition->program;
    ridge_program_dim *dims = ridge_new(ridge_ctx_scratch(tc->cx), ridge_program_dim,
                                        (size_t)program->n_dims);
    if (dims == NULL)
        return false;
    memcpy(dims, program->dims, (size_t)program->n_dims * sizeof *dims);
    double by = (double)sequences;
    for (int i = 0; i < program->n_dims; i++) {
        if (strcmp(dims[i].name, "B") == 0) {
            dims[i].size *= sequences;
        } else if (dims[i].used > 0) {
            dims[i].used *= by;
            dims[i].size = (int64_t)ceil(dims[i].used);
        }
    }
    program->dims = dims;
    leave_updates(program);
    out->program = program;
    return true;
}

/* ---- what is read off a block ---------------------------------------------------- */

typedef struct reading {
    const train_case *tc;
    const ridge_partition *partition;
    const ridge_operation_time *times; /* [n_ops] */
    const layer_cut *cut;
} reading;

static bool is_weight_gradient(const ridge_program *p, const ridge_operation *op)
{
    int of = p->tensors[op->outputs[0]].gradient_of;
    return of >= 0 && p->tensors[of].role == RIDGE_ROLE_WEIGHT;
}

static exchange_class class_of(const reading *r, const ridge_operation *op)
{
    bool has_cp = false;
    for (int i = 0; i < op->n_axes; i++) {
        const char *name = r->partition->mesh.axes[op->axes[i]].name;
        if (strcmp(name, "ep") == 0)
            return EXCHANGE_EP;
        has_cp = has_cp || strcmp(name, "cp") == 0;
    }
    if (op->collective == RIDGE_COLLECTIVE_ALL_TO_ALL && !has_cp)
        return EXCHANGE_EP;
    return has_cp ? EXCHANGE_CP : EXCHANGE_TP;
}

/* Bytes of a tensor on one chip; rows that are free on average do not travel. */
static double local_bytes(const reading *r, int tensor)
{
    const ridge_program *p = r->partition->program;
    const ridge_tensor *t = &p->tensors[tensor];
    double bytes = ridge_partition_local_elements(r->partition, tensor) *
                   ridge_dtype_bytes(t->dtype);
    for (int i = 0; i < t->n_dims; i++) {
        const ridge_program_dim *d = &p->dims[t->dims[i]];
        if (d->used > 0)
            bytes *= d->used / (double)d->size;
    }
    return bytes;
}

/* V of a collective, as ridge_collective_price takes it. */
static double exchange_bytes(const reading *r, const ridge_operation *op)
{
    double ranks = 1;
    switch ((ridge_collective)op->collective) {
    case RIDGE_COLLECTIVE_ALL_GATHER:
        return local_bytes(r, op->outputs[0]);
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        for (int i = 0; i < op->n_axes; i++)
            ranks *= (double)r->partition->mesh.axes[op->axes[i]].size;
        break;
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
    case RIDGE_COLLECTIVE_ALL_REDUCE:
    case RIDGE_COLLECTIVE_BROADCAST:
    case RIDGE_COLLECTIVE_SEND_RECV:
        break;
    }
    return ranks * local_bytes(r, op->inputs[0]);
}

/* A collective of activations or their gradients. Those of weights' gradients wait for
 * the end of the step. An activation that the backward pass gathers again is wanted by
 * the weight's gradient alone: it is off the critical path. */
static void add_exchange(const reading *r, int index, bool is_backward, layer_time *t)
{
    const ridge_program *p = r->partition->program;
    const ridge_operation *op = &p->ops[index];
    double bytes = exchange_bytes(r, op);
    bool is_again = is_backward && p->tensors[op->inputs[0]].gradient_of < 0;
    if (is_weight_gradient(p, op) || t->n_exchanges == LAYER_EXCHANGE_MAX ||
        bytes <= 0 || (is_again && r->tc->policy->is_frozen))
        return;
    layer_exchange_item item = {.kind = (ridge_collective)op->collective,
                                .part = class_of(r, op),
                                .is_backward = is_backward,
                                .is_beside = is_again,
                                .count = 1,
                                .bytes = bytes};
    for (int i = 0; i < t->n_exchanges; i++) {
        layer_exchange_item *x = &t->exchanges[i];
        if (x->kind == item.kind && x->part == item.part && x->bytes == bytes &&
            x->is_backward == is_backward && x->is_beside == is_again) {
            x->count++;
            return;
        }
    }
    t->exchanges[t->n_exchanges++] = item;
}

static void add_stream(const reading *r, double bytes, bool is_backward, layer_time *t)
{
    ridge_op_cost c = ridge_stream_cost(r->tc->chip, 0, bytes);
    *(is_backward ? &t->vector_bwd_s : &t->vector_fwd_s) += c.expected_s;
    *(is_backward ? &t->bound_bwd_s : &t->bound_fwd_s) += c.bound_s;
}

static void add_operation(const reading *r, int index, bool is_backward, layer_time *t)
{
    const ridge_operation *op = &r->partition->program->ops[index];
    if (op->code == RIDGE_OPCODE_COLLECTIVE || op->code == RIDGE_OPCODE_SEND) {
        add_exchange(r, index, is_backward, t);
        return;
    }
    if (r->tc->policy->is_frozen && is_weight_gradient(r->partition->program, op))
        return;
    const ridge_operation_time time =
        stack_operation_time(r->tc, r->partition, index, &r->times[index]);
    double *part = is_backward ? &t->vector_bwd_s : &t->vector_fwd_s;
    if (op->code == RIDGE_OPCODE_ATTENTION || op->code == RIDGE_OPCODE_SCAN) {
        part = is_backward ? &t->attention_bwd_s : &t->attention_fwd_s;
    } else if (op->code == RIDGE_OPCODE_EINSUM && op->n_inputs == 2) {
        part = is_backward ? &t->matmul_bwd_s : &t->matmul_fwd_s;
    }
    *part += time.expected_s;
    if (r->cut->elementwise_again[index])
        t->elementwise_s += time.expected_s;
    if (r->cut->ffn_again[index])
        t->ffn_s += time.expected_s;
    if (op->part == RIDGE_PART_EXPERTS && op->code == RIDGE_OPCODE_EINSUM)
        *(is_backward ? &t->experts_bwd_s : &t->experts_fwd_s) += time.expected_s;
    *(is_backward ? &t->bound_bwd_s : &t->bound_fwd_s) += time.bound_s;
}

static bool has_head(const ridge_program *p, const ridge_block *b)
{
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        if (op->is_head || op->code == RIDGE_OPCODE_LOSS)
            return true;
        if (op->code == RIDGE_OPCODE_UPDATE)
            return false;
    }
    return false;
}

/* Which entry a block belongs to: its kind of layer, the head, or none (embedding,
 * update). */
static int entry_of(const reading *r, const ridge_block *b)
{
    const ridge_program *p = r->partition->program;
    if (b->n_ops > 0 && p->ops[b->first_op].code == RIDGE_OPCODE_UPDATE)
        return -1;
    if (b->layer >= 0)
        return b->layer;
    return has_head(p, b) ? r->tc->n_kinds : -1;
}

/* The first block of each kind and direction stands for the others. */
static void read_blocks(const reading *r, layer_time *out)
{
    const ridge_program *p = r->partition->program;
    for (int i = 0; i < p->n_blocks; i++) {
        const ridge_block *b = &p->blocks[i];
        int entry = entry_of(r, b);
        if (entry < 0)
            continue;
        bool *is_read =
            b->is_backward ? &out[entry].is_bwd_read : &out[entry].is_fwd_read;
        if (*is_read)
            continue;
        *is_read = true;
        for (int op = b->first_op; op < b->first_op + b->n_ops; op++)
            add_operation(r, op, b->is_backward, &out[entry]);
    }
}

void train_program_accumulate(const train_case *tc, const layer_shape *s,
                              layer_time *out)
{
    const reading r = {.tc = tc};
    double each = 2 * tc->policy->gradient_bytes;
    for (int k = 0; k < tc->n_kinds; k++) {
        train_params p = train_layer_params(tc, k, s->tp, s->ep);
        add_stream(&r, each * (p.dense + p.expert), true, &out[k]);
    }
}

/* A cut with as many sequences as a microbatch has, and its times, in scratch. */
typedef struct priced_cut {
    layer_cut cut;
    ridge_program program;
    ridge_partition partition;
    ridge_operation_time *times;
} priced_cut;

static ridge_status price_cut(train_case *tc, const layer_shape *shape, priced_cut *out)
{
    ridge_laid_mesh nowhere = {.slice = tc->slice};
    RIDGE_TRY(find_cut(tc, shape, &out->cut));
    for (int i = 0; i < RIDGE_MESH_AXIS_MAX; i++)
        nowhere.groups[i].ranks = 1;
    out->times = ridge_new(ridge_ctx_scratch(tc->cx), ridge_operation_time,
                           (size_t)out->cut.partition->program->n_ops);
    if (out->times == NULL ||
        !enlarge(tc, &out->cut, shape->microbatch_seqs, &out->program, &out->partition))
        return ridge_fail_nomem(tc->cx);
    return ridge_operation_times_with(tc->cx, tc->programs->products, &out->partition,
                                      &nowhere, tc->policy->compute, out->times);
}

static double shape_tokens(const train_case *tc, const layer_shape *shape)
{
    return (double)shape->microbatch_seqs * tc->seq_tokens / (double)shape->cp;
}

/* One graph for each kind of layer, in scratch; NULL: memory ran out. */
static const named_graph *named_graphs(const train_case *tc, const layer_shape *shape,
                                       const priced_cut *p)
{
    ridge_arena *scratch = ridge_ctx_scratch(tc->cx);
    named_graph *graphs = ridge_new(scratch, named_graph, (size_t)tc->n_kinds + 1);
    for (int k = 0; graphs != NULL && k < tc->n_kinds; k++) {
        if (!named_graph_build(scratch, tc, &p->partition, p->times, k,
                               shape_tokens(tc, shape), &graphs[k]))
            return NULL;
    }
    return graphs;
}

static ridge_status read_named(train_case *tc, const layer_shape *shape,
                               const priced_cut *p, layer_time *out)
{
    if (tc->n_named == 0)
        return RIDGE_OK;
    const named_graph *graphs = named_graphs(tc, shape, p);
    for (int k = 0; graphs != NULL && k < tc->n_kinds; k++) {
        named_time *t =
            ridge_new(ridge_ctx_arena(tc->cx), named_time, (size_t)tc->n_named);
        if (t == NULL)
            return ridge_fail_nomem(tc->cx);
        for (int i = 0; i < tc->n_named; i++)
            t[i] = named_graph_time(&graphs[k], tc->named[i]);
        out[k].named = t;
    }
    return graphs == NULL ? ridge_fail_nomem(tc->cx) : RIDGE_OK;
}

static ridge_status read_times(train_case *tc, const layer_shape *shape,
                               layer_time *out)
{
    priced_cut p;
    RIDGE_TRY(price_cut(tc, shape, &p));
    reading r = {tc, &p.partition, p.times, &p.cut};
    memset(out, 0, ((size_t)tc->n_kinds + 1) * sizeof *out);
    read_blocks(&r, out);
    for (int k = 0; k <= tc->n_kinds; k++) {
        adapter_add_time(tc, k, shape, &out[k]);
        out[k].selective_s = stack_selective_s(tc->stack, &out[k]);
    }
    return read_named(tc, shape, &p, out);
}

ridge_status train_program_times(train_case *tc, const layer_shape *shape,
                                 layer_time *out)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(tc->cx));
    const ridge_status st = read_times(tc, shape, out);
    if (st == RIDGE_OK)
        ridge_arena_rewind(ridge_ctx_scratch(tc->cx), mark);
    return st;
}

ridge_status train_program_freed(train_case *tc, int64_t tp, int64_t ep, bool has_sp,
                                 double (*out)[NAMED_MOST])
{
    const layer_shape shape = {tp, 1, ep, 1, has_sp, false};
    layer_time *times =
        ridge_new(ridge_ctx_arena(tc->cx), layer_time, (size_t)tc->n_kinds + 1);
    if (times == NULL)
        return ridge_fail_nomem(tc->cx);
    RIDGE_TRY(train_program_times(tc, &shape, times));
    for (int k = 0; k < tc->n_kinds; k++) {
        for (int i = 0; i < tc->n_named; i++)
            out[k][i] = times[k].named[i].freed_bytes;
    }
    return RIDGE_OK;
}

ridge_status train_program_ladder(train_case *tc, const layer_shape *shape)
{
    priced_cut p;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(tc->cx));
    RIDGE_TRY(price_cut(tc, shape, &p));
    const named_graph *graphs = named_graphs(tc, shape, &p);
    if (graphs == NULL || !named_remat_ladder(ridge_ctx_scratch(tc->cx), tc, &p.program,
                                              graphs, tc->named, &tc->n_named))
        return ridge_fail_nomem(tc->cx);
    ridge_arena_rewind(ridge_ctx_scratch(tc->cx), mark);
    return RIDGE_OK;
}

ridge_status train_program_ops(train_case *tc, ridge_remat_ops *out)
{
    RIDGE_TRY(train_programs_open(tc));
    *out = ridge_program_remat_ops(tc->programs->program);
    return RIDGE_OK;
}

double train_again_flops(const train_case *tc, const ridge_layout *l)
{
    if ((int)l->remat != RIDGE_REMAT_OPERATIONS)
        return ridge_model_flops_remat(tc->model, tc->seq_tokens, true, l->remat);
    if (tc->programs == NULL)
        return 0;
    return named_remat_flops(ridge_ctx_scratch(tc->cx), tc->programs->program,
                             l->remat_ops) /
           tc->seq_tokens;
}
