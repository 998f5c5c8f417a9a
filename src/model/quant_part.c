/* Module names of checkpoints, by the words in them. */
#include "quant_part.h"

#include <ctype.h>
#include <string.h>

/* clang-format off */
/* Parts by words in a module's name; the first that is found counts. */
static const struct {
    const char *word;
    int part; /* ridge_quant_part; -1: never quantised, or not of the language model */
} WORDS[] = {
    {"norm", -1}, {"bias", -1}, {"embed", -1}, {"indexer", -1}, {"vision", -1},
    {"visual", -1}, {"projector", -1}, {"mtp", -1}, {"router", -1}, {"wte", -1},
    {"shared_expert_gate", -1},
    {"shared_expert", RIDGE_QUANT_SHARED}, {"share_expert", RIDGE_QUANT_SHARED},
    {"experts", RIDGE_QUANT_EXPERTS},
    {"attn", RIDGE_QUANT_ATTENTION}, {"attention", RIDGE_QUANT_ATTENTION},
    {"mixer", RIDGE_QUANT_ATTENTION},
    {"head", RIDGE_QUANT_HEAD}, {"output_layer", RIDGE_QUANT_HEAD},
    {"transformer.ff_out", RIDGE_QUANT_HEAD},
    {"_proj", RIDGE_QUANT_DENSE}, {"mlp.gate", -1}, {"moe.gate", -1},
    {"mlp", RIDGE_QUANT_DENSE}, {"feed_forward", RIDGE_QUANT_DENSE},
    {"ffn", RIDGE_QUANT_DENSE},
};
/* clang-format on */

int ridge__quant_part_of(const char *module)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(WORDS); i++) {
        if (strstr(module, WORDS[i].word) != NULL)
            return WORDS[i].part;
    }
    return -1;
}

bool ridge_model_has_experts(const ridge_model *model)
{
    for (int k = 0; k < model->n_layers; k++) {
        if (model->layers[k].ffn.kind == RIDGE_FFN_MOE)
            return true;
    }
    return false;
}

static int64_t count_dense(const ridge_model *model)
{
    int64_t layers = 0;
    for (int k = 0; k < model->n_layers; k++) {
        if (model->layers[k].ffn.kind == RIDGE_FFN_DENSE)
            layers += model->layers[k].count;
    }
    return layers;
}

/* The text behind "layers.", if a layer's number follows; NULL if none does. */
static const char *layer_number(const char *module)
{
    const char *layer = strstr(module, "layers.");
    if (layer == NULL)
        return NULL;
    layer += strlen("layers.");
    return isdigit((unsigned char)*layer) ? layer : NULL;
}

/* Whether nothing but a wildcard stands below the number: "layers.0*". */
static bool is_whole_layer(const char *number)
{
    while (isdigit((unsigned char)*number))
        number++;
    return strcmp(number, "*") == 0 || strcmp(number, ".*") == 0;
}

void ridge__quant_kept(const ridge__config *c, ridge_node list, bool *kept)
{
    int64_t named[RIDGE_QUANT_PART_COUNT] = {0};
    int64_t whole = 0;
    for (size_t i = 0; i < ridge_json_size(list); i++) {
        const char *name = "";
        if (!ridge_json_text(ridge_json_at(&list, i), &name))
            continue;
        const int part = ridge__quant_part_of(name);
        const char *number = layer_number(name);
        if (part >= 0) {
            named[part] += number != NULL ? 1 : c->layer_count;
        } else if (number != NULL && is_whole_layer(number)) {
            whole++;
        }
    }
    /* Whole layers are the dense ones of a model with experts, if they are as many. */
    if (whole > 0 && ridge_model_has_experts(c->model) &&
        whole >= count_dense(c->model))
        named[RIDGE_QUANT_DENSE] = c->layer_count;
    for (int part = 0; part < RIDGE_QUANT_PART_COUNT; part++)
        kept[part] = named[part] > 0 && 4 * named[part] >= c->layer_count;
}
