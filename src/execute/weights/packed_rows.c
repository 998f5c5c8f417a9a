#include "packed_rows.h"

const ridge_mixer *ridge__mixer_of(const ridge_model *model, int64_t layer)
{
    if (model == NULL || layer < 0)
        return NULL;
    for (int i = 0; i < model->n_runs; i++) {
        if (layer < model->runs[i].count)
            return &model->layers[model->runs[i].layer].mixer;
        layer -= model->runs[i].count;
    }
    return NULL;
}

enum { MEMBERS = 5 };

/* Weights one behind another in each group, by their rows there. */
typedef struct packed {
    int64_t groups;
    int64_t rows[MEMBERS];
} packed;

static bool find_delta(const ridge_mixer *m, ridge__packing packing, packed *out)
{
    const int64_t heads = m->key_heads > 0 ? m->value_heads / m->key_heads : 0;
    const int64_t keys = m->key_heads * m->key_head_dim;
    const int64_t values = heads * m->value_head_dim;
    if (m->kind != RIDGE_MIXER_DELTA)
        return false;
    if (packing == RIDGE__PACK_DELTA_HEADS)
        *out =
            (packed){m->key_heads, {m->key_head_dim, m->key_head_dim, values, values}};
    else if (packing == RIDGE__PACK_DELTA_STEPS)
        *out = (packed){m->key_heads, {heads, heads}};
    else
        *out = (packed){1, {keys, keys, m->value_heads * m->value_head_dim}};
    return true;
}

static bool find_state_space(const ridge_mixer *m, ridge__packing packing, packed *out)
{
    const int64_t inner = m->heads * m->head_dim;
    const int64_t state = m->state_groups * m->state_size;
    if (m->kind != RIDGE_MIXER_SSM)
        return false;
    *out = packing == RIDGE__PACK_STATE_SPACE
               ? (packed){1, {inner, inner, state, state, m->heads}}
               : (packed){1, {inner, state, state}};
    return true;
}

static bool find_packed(const ridge_model *model, const ridge_mixer *m,
                        ridge__packing packing, packed *out)
{
    switch (packing) {
    case RIDGE__PACK_DELTA_HEADS:
    case RIDGE__PACK_DELTA_STEPS:
    case RIDGE__PACK_DELTA_TAPS:
        return find_delta(m, packing, out);
    case RIDGE__PACK_STATE_SPACE:
    case RIDGE__PACK_STATE_TAPS:
        return find_state_space(m, packing, out);
    case RIDGE__PACK_CONVOLUTION:
        *out = (packed){1, {model->d_model, model->d_model, model->d_model}};
        return m->kind == RIDGE_MIXER_CONV;
    case RIDGE__PACK_QUERY_GATE:
        *out = (packed){m->heads, {m->head_dim, m->head_dim}};
        return m->kind == RIDGE_MIXER_ATTENTION && m->has_out_gate;
    }
    return false;
}

bool ridge__packed_rows_of(const ridge_model *model, const ridge_mixer *mixer,
                           const ridge__packed_name *name, ridge__packed_rows *out)
{
    packed p = {.groups = 0};
    if (mixer == NULL || !find_packed(model, mixer, name->packing, &p))
        return false;
    *out = (ridge__packed_rows){.groups = p.groups, .rows = p.rows[name->member]};
    for (int i = 0; i < MEMBERS; i++) {
        out->first += i < name->member ? p.rows[i] : 0;
        out->group_rows += p.rows[i];
    }
    return out->rows > 0 && out->groups > 0;
}
