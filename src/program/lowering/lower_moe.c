/*
 * Mixture of experts: router, dispatch to rows of experts, grouped feed-forward,
 * combine, shared experts beside it. An expert has C rows, tokens k / E rounded up;
 * what is in use of them is the exact mean, so that padding is in no count. Further
 * dims: Z latent width of experts.
 */
#include "lower.h"

/* ---- experts --------------------------------------------------------------------- */

typedef struct experts {
    int e, c, f; /* dims E, C, FE */
    int width;   /* dim D, or Z */
} experts;

/* Rows of an expert: the exact mean is in use. */
static int row_dim(ridge__lower *l)
{
    const ridge_ffn *f = &l->layer->ffn;
    int64_t tokens, rows;
    if (ridge__builder_is_bad(&l->b))
        return -1;
    if (!ridge_mul_i64(l->b.p.dims[l->dim_b].size, l->tokens, &tokens) ||
        !ridge_mul_i64(tokens, f->experts_per_token, &rows) || f->experts < 1) {
        ridge__builder_fail(&l->b, ridge_fail(l->b.cx, RIDGE_E_ARG,
                                              "too many rows for experts: use fewer "
                                              "tokens"));
        return -1;
    }
    const double used = (double)rows / (double)f->experts;
    const int64_t size = ridge_ceil_div(rows, f->experts);
    const char *name = "C";
    for (int i = 2; name != NULL; i++) {
        const int at = ridge_program_dim_find(&l->b.p, name);
        if (at < 0)
            return ridge__builder_dim_named(&l->b, name, size, used);
        const ridge_program_dim *d = &l->b.p.dims[at];
        if (d->size == size && !(d->used > used) && !(d->used < used))
            return at;
        name = ridge_sprintf(l->b.arena, "C%d", i);
    }
    ridge__builder_fail_nomem(&l->b);
    return -1;
}

static int expert_map(ridge__lower *l, const experts *x, int rows,
                      const ridge__map *map)
{
    const int in = map->in.d[0], to = map->to.d[0];
    const int w = ridge__lower_weight(l, map->weight, RIDGE__DIMS(x->e, in, to));
    const ridge__dims out = RIDGE__DIMS(x->e, x->c, to);
    if (!map->has_bias)
        return ridge__lower_einsum(l, map->out, rows, w, out);
    const char *raw = ridge_sprintf(l->b.arena, "%s_raw", map->out);
    const char *bias = ridge_sprintf(l->b.arena, "%s_bias", map->weight);
    if (raw == NULL || bias == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    const int y = ridge__lower_einsum(l, raw, rows, w, out);
    return ridge__lower_bias(l, map->out, y, bias, RIDGE__DIMS(x->e, to));
}

static int run_experts(ridge__lower *l, const experts *x, int rows)
{
    const ridge_ffn *f = &l->layer->ffn;
    const ridge__map gate_map = {.out = "rows_gate",
                                 .weight = "expert_gate",
                                 .in = RIDGE__DIMS(x->width),
                                 .to = RIDGE__DIMS(x->f),
                                 .has_bias = f->has_bias};
    ridge__map up_map = gate_map;
    up_map.out = "rows_up";
    up_map.weight = "expert_up";
    const ridge__map down = {.out = "rows_out",
                             .weight = "expert_down",
                             .in = RIDGE__DIMS(x->f),
                             .to = RIDGE__DIMS(x->width),
                             .has_bias = f->has_bias};
    const int gate = f->is_gated ? expert_map(l, x, rows, &gate_map) : -1;
    const int up = expert_map(l, x, rows, &up_map);
    const int act = ridge__lower_activation(l, "rows_act", gate, up);
    return expert_map(l, x, act, &down);
}

/* ---- routing --------------------------------------------------------------------- */

/* An operation of the routing: its code and one or two inputs. */
static int routing(ridge__lower *l, ridge_opcode code, const char *out, const int *in,
                   ridge__dims dims)
{
    ridge_operation op = ridge__operation_new(code, NULL);
    op.part = l->part;
    op.experts_per_token = l->layer->ffn.experts_per_token;
    op.n_inputs = in[1] < 0 ? 1 : 2;
    op.inputs[0] = in[0];
    op.inputs[1] = in[1] < 0 ? 0 : in[1];
    return ridge__lower_op(l, &op, out, dims);
}

static int route(ridge__lower *l, int h, int dim_e)
{
    const ridge__map router = {.out = "router_logits",
                               .weight = "router",
                               .in = RIDGE__DIMS(l->dim_d),
                               .to = RIDGE__DIMS(dim_e),
                               .has_bias = l->layer->ffn.has_router_bias};
    l->part = RIDGE_PART_ROUTER;
    const int in[] = {ridge__lower_map(l, h, &router), -1};
    return routing(l, RIDGE_OPCODE_ROUTE, "gates", in,
                   RIDGE__DIMS(l->dim_b, l->dim_t, dim_e));
}

/* A map between D and the latent width. */
static int latent(ridge__lower *l, int x, bool is_down, int dim_z)
{
    const ridge__map down = {.out = "latent",
                             .weight = "latent_down",
                             .in = RIDGE__DIMS(l->dim_d),
                             .to = RIDGE__DIMS(dim_z)};
    const ridge__map up = {.out = "routed",
                           .weight = "latent_up",
                           .in = RIDGE__DIMS(dim_z),
                           .to = RIDGE__DIMS(l->dim_d)};
    l->part = RIDGE_PART_MLP;
    return ridge__lower_map(l, x, is_down ? &down : &up);
}

static int routed_experts(ridge__lower *l, int h)
{
    const ridge_ffn *f = &l->layer->ffn;
    const bool has_latent = f->latent_width > 0;
    experts x = {.e = ridge__lower_dim(l, "E", f->experts),
                 .c = row_dim(l),
                 .f = ridge__lower_dim(l, "FE", f->expert_d_ff),
                 .width = l->dim_d};
    if (has_latent)
        x.width = ridge__lower_dim(l, "Z", f->latent_width);
    const int gates = route(l, h, x.e);
    const int tokens[] = {has_latent ? latent(l, h, true, x.width) : h, gates};
    l->part = RIDGE_PART_EXPERTS;
    const int rows = routing(l, RIDGE_OPCODE_DISPATCH, "rows", tokens,
                             RIDGE__DIMS(x.e, x.c, x.width));
    const int results[] = {run_experts(l, &x, rows), gates};
    const int y = routing(l, RIDGE_OPCODE_COMBINE, has_latent ? "combined" : "routed",
                          results, RIDGE__DIMS(l->dim_b, l->dim_t, x.width));
    return has_latent ? latent(l, y, false, x.width) : y;
}

/* ---- shared experts -------------------------------------------------------------- */

/* Times a sigmoid of one number a token. */
static int gated_share(ridge__lower *l, int h, int y)
{
    const ridge__map map = {
        .out = "shared_logit", .weight = "shared_scale", .in = RIDGE__DIMS(l->dim_d)};
    const int logit = ridge__lower_map(l, h, &map);
    const int share =
        ridge__lower_function(l, "shared_share", RIDGE_FUNCTION_SIGMOID, logit, -1);
    return ridge__lower_function(l, "shared_gated", RIDGE_FUNCTION_MULTIPLY, y, share);
}

int ridge__lower_moe(ridge__lower *l, int h)
{
    static const ridge__dense SHARED = {"shared_gate", "shared_up", "shared_down",
                                        "shared_g",    "shared_u",  "shared_act",
                                        "shared_out"};
    const ridge_ffn *f = &l->layer->ffn;
    const int y = routed_experts(l, h);
    if (f->shared_d_ff == 0)
        return y;
    int shared =
        ridge__lower_dense(l, &SHARED, h, ridge__lower_dim(l, "FS", f->shared_d_ff));
    if (f->has_shared_gate)
        shared = gated_share(l, h, shared);
    return ridge__lower_function(l, "experts", RIDGE_FUNCTION_ADD, y, shared);
}
