/* What a config says of a model's functions: the kind of its norms, the activation of
 * its feed-forward parts. No size follows from either. */
#include "config.h"

#include <string.h>

const char *ridge_norm_kind_text(ridge_norm_kind kind)
{
    static const char *const TEXTS[] = {
        [RIDGE_NORM_RMS] = "rms", [RIDGE_NORM_LAYER] = "layer"};
    return TEXTS[kind];
}

typedef struct activation_name {
    const char *text; /* of the model libraries */
    ridge_activation activation;
} activation_name;

static const activation_name NAMES[] = {
    {"gelu", RIDGE_ACTIVATION_GELU},
    {"gelu_python", RIDGE_ACTIVATION_GELU},
    {"gelu_new", RIDGE_ACTIVATION_GELU_TANH},
    {"gelu_fast", RIDGE_ACTIVATION_GELU_TANH},
    {"gelu_accurate", RIDGE_ACTIVATION_GELU_TANH},
    {"gelu_pytorch_tanh", RIDGE_ACTIVATION_GELU_TANH},
    {"relu", RIDGE_ACTIVATION_RELU},
    {"relu2", RIDGE_ACTIVATION_RELU2},
    {"silu", RIDGE_ACTIVATION_SILU},
    {"swish", RIDGE_ACTIVATION_SILU},
};

static ridge_activation read_activation(const ridge__config *c)
{
    static const char *const KEYS[] = {"activation_function", "hidden_activation",
                                       "hidden_act"};
    const char *text = "";
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS) && text[0] == '\0'; i++)
        text = ridge__config_text(c, KEYS[i], "");
    for (size_t i = 0; i < RIDGE_COUNT_OF(NAMES); i++) {
        if (strcmp(text, NAMES[i].text) == 0)
            return NAMES[i].activation;
    }
    return RIDGE_ACTIVATION_UNSTATED;
}

ridge_status ridge__config_functions(ridge__config *c)
{
    /* A norm without weights is OLMo's, which subtracts the mean. */
    c->model->norm_kind =
        c->arch->norm == RIDGE__NORM_RMS ? RIDGE_NORM_RMS : RIDGE_NORM_LAYER;
    c->model->activation = read_activation(c);
    return RIDGE_OK;
}
