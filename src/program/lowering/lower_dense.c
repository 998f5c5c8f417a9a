/* A dense feed-forward part, alone or as an expert that all tokens share. */
#include "lower.h"

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
