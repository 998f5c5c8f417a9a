/* What a model's type says that its sizes do not. */
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
