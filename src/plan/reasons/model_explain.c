/* Which numbers of a model can be explained, and the frame of their derivations. */
#include "model_story.h"
#include "reason.h"

#include "ridge/plan_model.h"

#include <string.h>

/* ---- parts by name --------------------------------------------------------------- */

static void tell_attention(model_story *s, int depth)
{
    model_story_part(s, depth, RIDGE_PART_ATTENTION);
}

static void tell_mlp(model_story *s, int depth)
{
    model_story_part(s, depth, RIDGE_PART_MLP);
}

static void tell_router(model_story *s, int depth)
{
    model_story_part(s, depth, RIDGE_PART_ROUTER);
}

static void tell_experts(model_story *s, int depth)
{
    model_story_part(s, depth, RIDGE_PART_EXPERTS);
}

static void tell_norm(model_story *s, int depth)
{
    model_story_part(s, depth, RIDGE_PART_NORM);
}

static void tell_mtp(model_story *s, int depth)
{
    model_story_aside(s, depth, false);
}

static void tell_vision(model_story *s, int depth)
{
    model_story_aside(s, depth, true);
}

static void tell_flops_attention(model_story *s, int depth)
{
    model_story_flops_part(s, depth, RIDGE_PART_ATTENTION);
}

static void tell_flops_mlp(model_story *s, int depth)
{
    model_story_flops_part(s, depth, RIDGE_PART_MLP);
}

static void tell_flops_router(model_story *s, int depth)
{
    model_story_flops_part(s, depth, RIDGE_PART_ROUTER);
}

static void tell_flops_experts(model_story *s, int depth)
{
    model_story_flops_part(s, depth, RIDGE_PART_EXPERTS);
}

typedef struct explained {
    const char *name;
    void (*tell)(model_story *s, int depth);
} explained;

static const explained quantities[] = {
    {"parameters", model_story_parameters},
    {"active", model_story_active},
    {"attention", tell_attention},
    {"mlp", tell_mlp},
    {"router", tell_router},
    {"experts", tell_experts},
    {"embedding", model_story_embedding},
    {"unembedding", model_story_unembedding},
    {"norm", tell_norm},
    {"mtp", tell_mtp},
    {"vision", tell_vision},
    {"flops", model_story_flops},
    {"flops_attention_projections", tell_flops_attention},
    {"flops_attention_scores", model_story_scores},
    {"flops_mlp", tell_flops_mlp},
    {"flops_router", tell_flops_router},
    {"flops_experts", tell_flops_experts},
    {"flops_unembedding", model_story_head},
    {"flops_train", model_story_train},
    {"conventions", model_story_conventions},
    {"weights", model_story_weights},
    {"training", model_story_training},
    {"activations", model_story_activations},
    {"kv", model_story_kv},
};

/* clang-format off */
static const char *const names[] = {
    "parameters", "active", "attention", "mlp", "router", "experts", "embedding",
    "unembedding", "norm", "mtp", "vision", "flops", "flops_attention_projections",
    "flops_attention_scores", "flops_mlp", "flops_router", "flops_experts",
    "flops_unembedding", "flops_train", "conventions", "weights", "training",
    "activations", "kv", NULL};
/* clang-format on */
_Static_assert(RIDGE_COUNT_OF(names) == RIDGE_COUNT_OF(quantities) + 1,
               "one name per quantity");

const char *const *ridge_model_quantities(void)
{
    return names;
}

static ridge_status fail_unknown(ridge_ctx *cx, const char *quantity)
{
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), quantity, names,
                                        RIDGE_COUNT_OF(quantities));
    const bool has_hint = hint != NULL && hint[0] != '\0';
    return ridge_fail(
        cx, RIDGE_E_NOTFOUND,
        "unknown quantity '%s'%s%s: of a model try parameters, active, "
        "flops, flops_train, weights, training, activations, kv or a part",
        quantity, has_hint ? ": " : "", has_hint ? hint : "");
}

ridge_status ridge_model_explain(ridge_ctx *cx, const ridge_model *model,
                                 double seq_tokens, const char *quantity,
                                 ridge_explanation *out)
{
    size_t i = 0;
    while (i < RIDGE_COUNT_OF(quantities) && strcmp(quantities[i].name, quantity) != 0)
        i++;
    if (i == RIDGE_COUNT_OF(quantities))
        return fail_unknown(cx, quantity);
    *out = (ridge_explanation){0};
    model_story s = {.cx = cx,
                     .model = model,
                     .seq_tokens = seq_tokens,
                     .params = ridge_model_params(model),
                     .flops = ridge_model_flops_forward(model, seq_tokens, true),
                     .out = out};
    quantities[i].tell(&s, 0);
    return RIDGE_OK;
}
