/*
 * Rematerialisation policies: their names, and the forward FLOPs that each does again.
 * What each keeps is in activation.c.
 */
#include "ridge/model.h"

#include <string.h>

typedef struct remat_row {
    const char *text;
    const char *what;
} remat_row;

static const remat_row policies[] = {
#define REMAT_ROW(name, text, what) [RIDGE_REMAT_##name] = {text, what},
    RIDGE_REMAT_LIST(REMAT_ROW)
#undef REMAT_ROW
};

_Static_assert(RIDGE_COUNT_OF(policies) == RIDGE_REMAT_COUNT, "one row per policy");

const char *ridge_remat_text(ridge_remat remat)
{
    return policies[remat].text;
}

const char *ridge_remat_what(ridge_remat remat)
{
    return policies[remat].what;
}

ridge_status ridge_remat_parse(ridge_ctx *cx, const char *text, ridge_remat *out)
{
    const char *names[RIDGE_REMAT_COUNT];
    for (int i = 0; i < RIDGE_REMAT_COUNT; i++) {
        names[i] = policies[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_remat)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_NOTFOUND, "remat policy", text, names,
                           RIDGE_REMAT_COUNT);
}

/* The feed-forward but for its last product: two of three matrices with a gate. */
static double ffn_flops(const ridge_model *model, const ridge_flops *f)
{
    bool is_gated = false;
    for (int i = 0; i < model->n_layers; i++)
        is_gated = is_gated || model->layers[i].ffn.is_gated;
    return (f->mlp + f->experts) * (is_gated ? 2.0 / 3 : 1.0 / 2) + f->router;
}

/* A flash kernel computes QK again in its backward pass whatever the policy: five
 * matmuls for four. No policy counts that one; it belongs to the kernel's time. */
double ridge_model_flops_remat(const ridge_model *model, double seq_tokens,
                               bool is_causal_half, ridge_remat remat)
{
    ridge_flops f = ridge_model_flops_forward(model, seq_tokens, is_causal_half);
    switch (remat) {
    case RIDGE_REMAT_NONE:
    case RIDGE_REMAT_ELEMENTWISE:
        return 0;
    case RIDGE_REMAT_FFN:
        return ffn_flops(model, &f);
    case RIDGE_REMAT_SELECTIVE:
    case RIDGE_REMAT_MATMULS:
        return f.attention_scores;
    case RIDGE_REMAT_FULL:
        return f.total - f.unembedding;
    }
    return 0;
}
