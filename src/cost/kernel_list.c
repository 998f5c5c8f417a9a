/* The kernels of a partition with what each asks; their times are others'. */
#include "local_size.h"
#include "operation_time.h"

#include "ridge/cost_kernels.h"

_Static_assert((int)RIDGE_KERNEL_OP_MAX == (int)RIDGE__FUSED_MAX, "a group fits");

/* The list under way. */
typedef struct kernel_list {
    const ridge__pricing *x;
    bool *is_taken; /* [n_ops] */
    ridge_kernel *kernels;
    int n;
} kernel_list;

static double ranks_of(const ridge_partition *p, const ridge_operation *o)
{
    double ranks = 1;
    for (int i = 0; i < o->n_axes; i++)
        ranks *= (double)p->mesh.axes[o->axes[i]].size;
    return ranks;
}

static void read_product(const ridge_partition *p, const ridge__fused *group,
                         ridge_kernel *out)
{
    double flops[RIDGE__FUSED_MAX];
    const ridge__product all = ridge__joined_product(p, group, flops);
    const ridge_tensor *tensors = p->program->tensors;
    const ridge_operation *o = &p->program->ops[group->ops[0]];
    out->kind = RIDGE_KERNEL_PRODUCT;
    out->operand = all.a;
    out->product = (ridge_matmul){.batch = all.batch,
                                  .m = all.m,
                                  .k = all.k,
                                  .n = all.n,
                                  .activation = tensors[all.a].dtype,
                                  .weight = tensors[all.b].dtype,
                                  .output = tensors[all.c].dtype,
                                  .compute = RIDGE_DTYPE_BF16};
    for (int i = 0; i < o->n_inputs && out->weight < 0; i++) {
        if (tensors[o->inputs[i]].role == RIDGE_ROLE_WEIGHT)
            out->weight = o->inputs[i];
    }
}

static void read_stream(const kernel_list *l, const ridge__fused *group,
                        ridge_kernel *out)
{
    ridge__stream_work work[RIDGE__FUSED_MAX];
    ridge__streams_count(l->x, group, work);
    out->kind = RIDGE_KERNEL_STREAM;
    for (int i = 0; i < group->n; i++) {
        out->bytes += work[i].bytes;
        out->vector_flops += work[i].flops;
    }
}

static void read_scan(const kernel_list *l, const ridge__fused *group,
                      ridge_kernel *out)
{
    const ridge_partition *p = l->x->partition;
    const ridge_operation *o = &p->program->ops[group->ops[0]];
    read_stream(l, group, out);
    out->kind = RIDGE_KERNEL_SCAN;
    for (int i = 0; i < o->n_outputs; i++) {
        if (p->program->tensors[o->outputs[i]].role == RIDGE_ROLE_CACHE)
            out->state_bytes += ridge__tensor_bytes(p, o->outputs[i]);
    }
}

static void read_group(const kernel_list *l, const ridge__fused *group,
                       ridge_kernel *out)
{
    const ridge_partition *p = l->x->partition;
    const ridge_operation *o = &p->program->ops[group->ops[0]];
    ridge__product product;
    ridge_attention_shape shape;
    if (o->code == RIDGE_OPCODE_COLLECTIVE || o->code == RIDGE_OPCODE_SEND) {
        out->kind = RIDGE_KERNEL_EXCHANGE;
        out->bytes = ridge__exchange_bytes(p, o, ranks_of(p, o));
    } else if (ridge_attention_shape_of(p->program, o, &shape)) {
        out->kind = RIDGE_KERNEL_ATTENTION;
        out->attention = ridge__attention_shape(p, o, &shape);
    } else if (o->code == RIDGE_OPCODE_SCAN) {
        read_scan(l, group, out);
    } else if (o->code == RIDGE_OPCODE_EINSUM &&
               ridge__product_of(p, group->ops[0], &product)) {
        read_product(p, group, out);
    } else {
        read_stream(l, group, out);
    }
}

static bool is_exchange(const ridge_operation *o)
{
    return o->code == RIDGE_OPCODE_COLLECTIVE || o->code == RIDGE_OPCODE_SEND;
}

static void group_from(const kernel_list *l, int op, int end, ridge__fused *group)
{
    const ridge__fusing fusing = {l->x->partition, l->x->index};
    if (is_exchange(&l->x->partition->program->ops[op])) {
        *group = (ridge__fused){.n = 1, .ops = {op}};
        return;
    }
    ridge__fused_from(&fusing, op, end, l->is_taken, group);
}

/* Sums that products add up themselves, and slices, are no kernels. */
static bool is_no_kernel(const kernel_list *l, int op)
{
    const ridge__fusing fusing = {l->x->partition, l->x->index};
    const ridge_operation *o = &l->x->partition->program->ops[op];
    return ridge__exchange_is_none(o) || ridge__is_product_sum(&fusing, op);
}

static void block_list(kernel_list *l, int block)
{
    const ridge_program *program = l->x->partition->program;
    const ridge_block *b = &program->blocks[block];
    const int end = b->first_op + b->n_ops;
    for (int i = b->first_op; i < end; i++) {
        if (l->is_taken[i] || is_no_kernel(l, i))
            continue;
        ridge__fused group;
        group_from(l, i, end, &group);
        ridge_kernel *k = &l->kernels[l->n++];
        *k = (ridge_kernel){.block = block,
                            .n_ops = group.n,
                            .part = program->ops[i].part,
                            .is_head = program->ops[i].is_head,
                            .operand = -1,
                            .weight = -1};
        for (int g = 0; g < group.n; g++) {
            k->ops[g] = group.ops[g];
            l->is_taken[group.ops[g]] = true;
        }
        read_group(l, &group, k);
    }
}

ridge_status ridge_kernels_list(ridge_ctx *cx, const ridge_partition *partition,
                                const ridge_kernel **out, int *n)
{
    const ridge_program *program = partition->program;
    const size_t ops = (size_t)program->n_ops + 1;
    ridge_kernel *kernels = ridge_new(ridge_ctx_arena(cx), ridge_kernel, ops);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    bool *is_taken = ridge_new(ridge_ctx_scratch(cx), bool, ops);
    ridge__op_index index;
    if (kernels == NULL || is_taken == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge__op_index_make(cx, program, &index));
    const ridge__pricing x = {.partition = partition, .index = &index};
    kernel_list list = {&x, is_taken, kernels, 0};
    for (int b = 0; b < program->n_blocks; b++)
        block_list(&list, b);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    *out = kernels;
    *n = list.n;
    return RIDGE_OK;
}
