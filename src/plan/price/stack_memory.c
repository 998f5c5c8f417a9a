/*
 * Arrays that are kept for the backward pass, and the ends of the model. Software that
 * does not fuse keeps what stands between its kernels; where it is said in data/stacks.
 */
#include "stack_memory.h"

#include "adapter.h"

/* Logits in 16 bits and their softmax in fp32. */
static const double LOGIT_BYTES = 2 + 4;

/* Attention that is not fused keeps scores after softmax, a mask of dropout, and what
 * dropout leaves. @source korthikanti2022, equation 1 */
static const double SCORE_KEPT_BYTES = 2 + 1 + 2;

/* Elements count 2 bytes. Operands of products are kept in a narrower format that they
 * are made for, once: the transpose, or with scales of blocks the copy along the other
 * dim. Where all is computed in fp32 all is kept in it.
 * @source transformer-engine-docs */
static double format_saving_bytes(const train_case *tc, int kind, ridge_remat remat,
                                  int64_t tp, bool has_sp)
{
    ridge_saved saved[RIDGE_SAVED_MAX];
    const double each = ridge_dtype_bytes(tc->policy->compute);
    const int n = ridge_layer_saved(tc->model, &tc->kinds[kind], saved);
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        const ridge_saved *s = &saved[i];
        const bool is_kept = (s->kept_by & (1u << remat)) != 0;
        const bool is_other =
            each < 2 ? s->is_operand : each > 2 && s->bytes_per_element < each;
        int64_t ways = s->is_split_by_tp || has_sp ? tp : 1;
        if (s->split_most > 0 && s->split_most < ways)
            ways = s->split_most;
        if (is_kept && is_other)
            bytes += s->width * (s->bytes_per_element - each) / (double)ways;
    }
    return bytes;
}

static double tuned_bytes(const train_case *tc, int kind, ridge_remat remat, int64_t tp,
                          bool has_sp)
{
    const bool has_adapters = remat != RIDGE_REMAT_FULL;
    return ridge_layer_activation_bytes(tc->model, &tc->kinds[kind], remat, tp,
                                        has_sp) -
           format_saving_bytes(tc, kind, remat, tp, has_sp) +
           (has_adapters ? adapter_kept_bytes(tc, kind) / (double)tp : 0);
}

/* Checkpoints of single operations: outputs of products that are not done again, the
 * output of attention, and the layer's input. */
static double selective_bytes(const train_case *tc, int kind, int64_t tp, bool has_sp)
{
    const ridge_mixer *m = &tc->kinds[kind].mixer;
    double least = tuned_bytes(tc, kind, RIDGE_REMAT_FULL, tp, has_sp);
    double products = tuned_bytes(tc, kind, RIDGE_REMAT_MATMULS, tp, has_sp) - least;
    double scores_out = 2 * (double)m->heads * (double)m->head_dim / (double)tp;
    return least + (1 - tc->stack->selective_matmuls) * products + scores_out;
}

static double score_bytes(const train_case *tc, int kind, int64_t tp)
{
    const ridge_mixer *m = &tc->kinds[kind].mixer;
    if (m->kind != RIDGE_MIXER_ATTENTION)
        return 0;
    return SCORE_KEPT_BYTES * (double)m->heads * tc->seq_tokens / (double)tp;
}

double stack_kept_bytes(const train_case *tc, int kind, ridge_remat remat, int64_t tp,
                        bool has_sp)
{
    const ridge_stack *stack = tc->stack;
    double bytes = tuned_bytes(tc, kind, remat, tp, has_sp);
    if (stack == NULL || remat == RIDGE_REMAT_FULL)
        return bytes;
    if (remat == RIDGE_REMAT_SELECTIVE && stack->selective_matmuls > 0)
        return selective_bytes(tc, kind, tp, has_sp);
    bytes *= stack->kept_passes;
    if (remat == RIDGE_REMAT_NONE && stack->attention == RIDGE_ATTENTION_UNFUSED)
        bytes += score_bytes(tc, kind, tp);
    return bytes;
}

double stack_logit_bytes(const train_case *tc)
{
    bool is_said = tc->stack != NULL && tc->stack->logit_bytes > 0;
    return is_said ? tc->stack->logit_bytes : LOGIT_BYTES;
}

double stack_gradient_bytes(const train_case *tc)
{
    bool has_two = tc->stack != NULL && tc->stack->has_two_gradients &&
                   tc->policy->gradient_bytes > 2;
    return has_two ? tc->policy->weight_bytes : 0;
}

bool stack_gathers_stage(const train_case *tc)
{
    return tc->stack != NULL && tc->stack->gathers_stage;
}
