/*
 * Numbers of a model's arithmetic as a machine takes them: rotary frequencies, which of
 * them each layer turns by, epsilon.
 */
#include "runner.h"

enum { USUAL = 0, NONE = 1, LOCAL = 2 };

/* The head dim that turns. */
static int64_t rotary_dim(const ridge_program *program)
{
    int64_t h = 2;
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        const ridge_tensor *t = &program->tensors[op->inputs[0]];
        if (op->code == RIDGE_OPCODE_ELEMENTWISE &&
            op->function == RIDGE_FUNCTION_ROTARY && !op->is_backward)
            h = program->dims[t->dims[t->n_dims - 1]].size;
    }
    return h < 2 ? 2 : h;
}

static unsigned char kind_of(const ridge_numerics *n, int64_t layer, int64_t window)
{
    if ((size_t)layer < n->n_layer_has_rope && !n->layer_has_rope[layer])
        return NONE;
    if (n->no_rope_every > 0 && (layer + 1) % n->no_rope_every == 0)
        return NONE;
    if (n->is_rope_of_windows && window == 0)
        return NONE;
    return n->local_rope_theta > 0.0 && window > 0 ? LOCAL : USUAL;
}

static bool is_alike(const ridge_numerics *n)
{
    return n->n_layer_has_rope == 0 && n->no_rope_every == 0 &&
           !n->is_rope_of_windows && !(n->local_rope_theta > 0.0);
}

static ridge_status find_kinds(ridge__runner *r, const ridge_model *model,
                               const ridge_numerics *n, ridge__numbers *out)
{
    if (is_alike(n))
        return RIDGE_OK;
    int64_t layers = 0, at = 0;
    for (int i = 0; i < model->n_runs; i++)
        layers += model->runs[i].count;
    unsigned char *kinds =
        ridge_new(ridge_ctx_arena(r->cx), unsigned char, (size_t)layers + 1);
    if (kinds == NULL)
        return ridge_fail_nomem(r->cx);
    for (int i = 0; i < model->n_runs; i++) {
        const int64_t window = model->layers[model->runs[i].layer].mixer.window;
        for (int64_t k = 0; k < model->runs[i].count; k++, at++)
            kinds[at] = kind_of(n, at, window);
    }
    out->rotation_of = kinds;
    return RIDGE_OK;
}

ridge_status ridge__runner_numbers(ridge__runner *r, const ridge_program *full,
                                   const ridge__runner_options *options,
                                   ridge__numbers *out)
{
    ridge_numerics usual = *options->numerics;
    const ridge_numerics *n = &usual;
    const int64_t h = rotary_dim(full);
    ridge_numerics local = usual;
    usual.context_tokens = (double)options->lowering.context_tokens;
    float *all = ridge_new(ridge_ctx_arena(r->cx), float,
                           (size_t)(h / 2) * RIDGE__ROTATION_COUNT);
    if (all == NULL)
        return ridge_fail_nomem(r->cx);
    *out = (ridge__numbers){.norm_epsilon = n->norm_epsilon,
                            .is_gate_whole = n->is_gate_whole};
    for (int i = 0; i < RIDGE__ROTATION_COUNT; i++)
        out->rotations[i] = (ridge__rotation){all + i * (h / 2), 1.0F};
    out->rotations[USUAL].magnitude = ridge_numerics_frequencies(n, h, all);
    local.rope = RIDGE_ROPE_NONE;
    local.rope_theta = n->local_rope_theta > 0.0 ? n->local_rope_theta : n->rope_theta;
    ridge_numerics_frequencies(&local, h, all + LOCAL * (h / 2));
    return find_kinds(r, options->model, n, out);
}

ridge_status ridge__chunk_find_layers(ridge__chunk *chunk)
{
    ridge__machine *m = chunk->m;
    const int n = m->program->n_blocks;
    int64_t *layers = ridge_new(ridge_ctx_arena(m->cx), int64_t, (size_t)n + 1);
    if (layers == NULL)
        return ridge_fail_nomem(m->cx);
    for (int b = 0; b < n; b++)
        layers[b] = ridge__block_layer(chunk, b);
    m->block_layer = layers;
    return RIDGE_OK;
}
