/* Whether a partitioned program can be run: what kernels there are, what must divide.
 */
#include "machine.h"

#include <string.h>

static ridge_status refuse(ridge_ctx *cx, const ridge_operation *op, const char *why)
{
    return ridge_fail(cx, RIDGE_E_ARG, "%s (%s) cannot be run: %s", op->name,
                      ridge_opcode_text(op->code), why);
}

static int64_t last_size(const ridge_program *program, int tensor, int from_end)
{
    const ridge_tensor *t = &program->tensors[tensor];
    return t->n_dims < from_end ? 0 : program->dims[t->dims[t->n_dims - from_end]].size;
}

/* An indexer that chooses all tokens chooses nothing: attention is as without it. */
static ridge_status check_chosen(ridge_ctx *cx, const ridge_operation *op,
                                 int64_t chosen, int64_t tokens)
{
    if (chosen >= tokens)
        return RIDGE_OK;
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "%s (%s) cannot be run: it chooses %lld of %lld tokens, and sparse "
        "attention has no kernel: take sequences of at most %lld tokens, "
        "of which it chooses all (--seq %lld; with --generate, prompt and "
        "--tokens together)",
        op->name, ridge_opcode_text(op->code), (long long)chosen, (long long)tokens,
        (long long)chosen, (long long)chosen);
}

static ridge_status check_attention(ridge_ctx *cx, const ridge_program *program,
                                    const ridge_operation *op)
{
    ridge_attention_shape s;
    const ridge_tensor *q = &program->tensors[op->inputs[0]];
    const ridge_tensor *k = &program->tensors[op->inputs[1]];
    if (op->extras & RIDGE_ATTENTION_FAR)
        return refuse(cx, op,
                      "attention to compressed entries has no kernel: take a config "
                      "without compress_ratios");
    if (!ridge_attention_shape_of(program, op, &s))
        return refuse(cx, op, "its dims are not those of attention");
    if (s.chosen >= 0)
        RIDGE_TRY(check_chosen(cx, op, program->dims[s.chosen].size,
                               program->dims[s.s].size));
    if (op->extras & RIDGE_ATTENTION_SINKS) {
        const int at = op->extras & RIDGE_ATTENTION_ROPE ? 5 : 3;
        const ridge_tensor *sinks = &program->tensors[op->inputs[at]];
        if (sinks->n_dims != 1 || sinks->dims[0] != s.heads)
            return refuse(cx, op,
                          "its heads are in groups with sinks (DeepSeek-V4), which "
                          "have no kernel: "
                          "take a config of another model");
    }
    const int k_batch = k->n_dims - (s.kv_heads >= 0 ? 3 : 2);
    if (k_batch != q->n_dims - 3)
        return refuse(cx, op, "its keys are shared by several sequences");
    return RIDGE_OK;
}

/* Each summed dim of an einsum is in all its inputs. */
static ridge_status check_einsum(ridge_ctx *cx, const ridge_program *program,
                                 const ridge_operation *op)
{
    const ridge_tensor *out = &program->tensors[op->outputs[0]];
    if (op->n_inputs > 2)
        return refuse(cx, op, "it has more than two factors");
    for (int i = 0; op->n_inputs == 2 && i < 2; i++) {
        const ridge_tensor *a = &program->tensors[op->inputs[i]];
        const ridge_tensor *b = &program->tensors[op->inputs[1 - i]];
        for (int d = 0; d < a->n_dims; d++) {
            if (ridge__tensor_position(out, a->dims[d]) < 0 &&
                ridge__tensor_position(b, a->dims[d]) < 0)
                return refuse(cx, op, "it sums a dim of one factor alone");
        }
    }
    return RIDGE_OK;
}

static ridge_status check_scan(ridge_ctx *cx, const ridge__device *device,
                               const ridge_program *program, const ridge_operation *op)
{
    const ridge_operation *forward =
        op->is_backward && op->forward_of >= 0 ? &program->ops[op->forward_of] : op;
    if (op->scan == RIDGE_SCAN_SELECT)
        return check_chosen(cx, op, last_size(program, forward->outputs[0], 1),
                            last_size(program, forward->inputs[1], 2));
    if (op->scan == RIDGE_SCAN_POOL)
        return refuse(cx, op,
                      "attention to compressed entries has no kernel: take a config "
                      "without compress_ratios");
    if (op->scan == RIDGE_SCAN_LINEAR && forward->n_inputs < 4)
        return refuse(
            cx, op,
            "linear attention whose decays are no weights has no kernel: take "
            "a config of layers with softmax attention");
    if (device != NULL && device->ops->recurrence == NULL)
        return refuse(cx, op,
                      "recurrent layers have no kernel on GPUs: use --engine threads "
                      "or mpi");
    return RIDGE_OK;
}

static ridge_status check_op(ridge_ctx *cx, const ridge__device *device,
                             const ridge_program *program, const ridge_operation *op)
{
    switch ((int)op->code) {
    case RIDGE_OPCODE_SCAN:
        return check_scan(cx, device, program, op);
    case RIDGE_OPCODE_ATTENTION:
        return check_attention(cx, program, op);
    case RIDGE_OPCODE_NORM:
        return op->norm_groups > 1 && !op->is_backward && op->n_inputs > 2
                   ? refuse(cx, op, "a norm by groups has no kernel with a bias")
                   : RIDGE_OK;
    case RIDGE_OPCODE_EINSUM:
        return check_einsum(cx, program, op);
    default:
        return RIDGE_OK;
    }
}

/* Padded tokens would be routed, and be seen by others. */
static ridge_status check_tokens(ridge_ctx *cx, const ridge_partition *p, int tensor)
{
    const ridge_tensor *t = &p->program->tensors[tensor];
    for (int i = 0; i < t->n_dims; i++) {
        const ridge_program_dim *d = &p->program->dims[t->dims[i]];
        const ridge_dim_axes *axes = &p->shardings[tensor].dims[i];
        const bool is_token = strcmp(d->name, "B") == 0 || strcmp(d->name, "T") == 0;
        if (is_token && ridge_dim_padding(&p->mesh, axes, d->size) > 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s=%lld is cut %lld ways, which leaves a remainder: "
                              "choose sizes that divide",
                              strcmp(d->name, "B") == 0 ? "the microbatch's sequences"
                                                        : "the sequence's tokens",
                              (long long)d->size,
                              (long long)ridge_dim_ways(&p->mesh, axes));
    }
    return RIDGE_OK;
}

static ridge_status check_format(ridge_ctx *cx, const ridge_tensor *t)
{
    if (t->dtype == RIDGE_DTYPE_FP32 || t->dtype == RIDGE_DTYPE_BF16 ||
        (t->dtype == RIDGE_DTYPE_INT8 && t->role == RIDGE_ROLE_STATE))
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG, "%s is %s: the kernels take fp32 and bf16",
                      t->name, ridge_dtype_text(t->dtype));
}

ridge_status ridge__machine_check(ridge_ctx *cx, const ridge__device *device,
                                  const ridge_partition *partition)
{
    const ridge_program *program = partition->program;
    for (int i = 0; i < program->n_ops; i++)
        RIDGE_TRY(check_op(cx, device, program, &program->ops[i]));
    for (int t = 0; t < program->n_tensors; t++) {
        RIDGE_TRY(check_format(cx, &program->tensors[t]));
        RIDGE_TRY(check_tokens(cx, partition, t));
    }
    return RIDGE_OK;
}
