/* Feed-forward parts: dense, and what a model's type says of their functions. */
#include "lower.h"

#include <string.h>

/* What the sizes do not tell; names as in model_type, by their beginning. */
typedef struct type_trait {
    const char *type;
    ridge_function plain, gated;
    bool has_rotary;
} type_trait;

/* clang-format off */
static const type_trait TRAITS[] = {
    {"gemma", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_GEGLU, true},
    {"nemotron_h", RIDGE_FUNCTION_RELU2, RIDGE_FUNCTION_SWIGLU, false},
    {"nemotron", RIDGE_FUNCTION_RELU2, RIDGE_FUNCTION_SWIGLU, true},
    {"opt", RIDGE_FUNCTION_RELU, RIDGE_FUNCTION_SWIGLU, false},
    {"t5", RIDGE_FUNCTION_RELU, RIDGE_FUNCTION_GEGLU, false},
    {"mt5", RIDGE_FUNCTION_RELU, RIDGE_FUNCTION_GEGLU, false},
    {"umt5", RIDGE_FUNCTION_RELU, RIDGE_FUNCTION_GEGLU, false},
    {"modernbert", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_GEGLU, true},
    {"gpt2", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, false},
    {"gpt_neox", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, true},
    {"gptj", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, true},
    {"codegen", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, true},
    {"starcoder2", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, true},
    {"phi", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, true},
    {"gpt_neo", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, false},
    {"gpt_bigcode", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, false},
    {"bloom", RIDGE_FUNCTION_GELU_TANH, RIDGE_FUNCTION_SWIGLU, false},
    {"mpt", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"bert", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"roberta", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"xlm-roberta", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"camembert", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"distilbert", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"albert", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"bart", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"mbart", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
    {"whisper", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU, false},
};
/* clang-format on */

static const type_trait *find_trait(const ridge_model *model)
{
    static const type_trait USUAL = {"", RIDGE_FUNCTION_GELU, RIDGE_FUNCTION_SWIGLU,
                                     true};
    const char *type = model->model_type != NULL ? model->model_type : "";
    for (size_t i = 0; i < RIDGE_COUNT_OF(TRAITS); i++) {
        if (strncmp(type, TRAITS[i].type, strlen(TRAITS[i].type)) == 0)
            return &TRAITS[i];
    }
    return &USUAL;
}

ridge_function ridge__lower_gate_function(const ridge_model *model, bool is_gated)
{
    static const ridge_function PLAIN[] = {
        [RIDGE_ACTIVATION_GELU] = RIDGE_FUNCTION_GELU,
        [RIDGE_ACTIVATION_GELU_TANH] = RIDGE_FUNCTION_GELU_TANH,
        [RIDGE_ACTIVATION_RELU] = RIDGE_FUNCTION_RELU,
        [RIDGE_ACTIVATION_RELU2] = RIDGE_FUNCTION_RELU2,
        [RIDGE_ACTIVATION_SILU] = RIDGE_FUNCTION_SILU,
    };
    const type_trait *trait = find_trait(model);
    if (is_gated)
        return trait->gated;
    return model->activation == RIDGE_ACTIVATION_UNSTATED ? trait->plain
                                                          : PLAIN[model->activation];
}

bool ridge__lower_has_rotary(const ridge_model *model)
{
    return find_trait(model)->has_rotary;
}

int ridge__lower_activation(ridge__lower *l, const char *out, int gate, int up)
{
    const ridge_function f = ridge__lower_gate_function(l->model, gate >= 0);
    return gate >= 0 ? ridge__lower_function(l, out, f, gate, up)
                     : ridge__lower_function(l, out, f, up, -1);
}

int ridge__lower_dense(ridge__lower *l, const ridge__dense *names, int h, int width_dim)
{
    const ridge_ffn *f = &l->layer->ffn;
    const ridge__map gate_map = {.out = names->gate_out,
                                 .weight = names->gate,
                                 .in = RIDGE__DIMS(l->dim_d),
                                 .to = RIDGE__DIMS(width_dim),
                                 .has_bias = f->has_bias};
    ridge__map up_map = gate_map;
    up_map.out = names->up_out;
    up_map.weight = names->up;
    const ridge__map down = {.out = names->out,
                             .weight = names->down,
                             .in = RIDGE__DIMS(width_dim),
                             .to = RIDGE__DIMS(l->dim_d),
                             .has_bias = f->has_bias};
    l->part = RIDGE_PART_MLP;
    const int gate = f->is_gated ? ridge__lower_map(l, h, &gate_map) : -1;
    const int up = ridge__lower_map(l, h, &up_map);
    const int act = ridge__lower_activation(l, names->act, gate, up);
    return ridge__lower_map(l, act, &down);
}

int ridge__lower_ffn(ridge__lower *l, int h)
{
    static const ridge__dense DENSE = {"w_gate", "w_up", "w_down", "gate",
                                       "up",     "act",  "ffn"};
    const ridge_ffn *f = &l->layer->ffn;
    const int routed = f->kind == RIDGE_FFN_MOE ? ridge__lower_moe(l, h) : -1;
    if (f->d_ff == 0 && f->kind == RIDGE_FFN_MOE)
        return routed;
    const int dense =
        ridge__lower_dense(l, &DENSE, h, ridge__lower_dim(l, "F", f->d_ff));
    if (f->kind != RIDGE_FFN_MOE)
        return dense;
    return ridge__lower_function(l, "ffn_sum", RIDGE_FUNCTION_ADD, routed, dense);
}
