/* The operations that lowering is written in: weights, maps, norms, functions. */
#include "lower.h"

#include <string.h>

int ridge__lower_dim(ridge__lower *l, const char *letter, int64_t size)
{
    return ridge__builder_dim(&l->b, letter, size);
}

const char *ridge__lower_name(ridge__lower *l, const char *base)
{
    if (l->prefix[0] == '\0' && l->stem[0] == '\0')
        return base;
    const char *name = ridge_sprintf(l->b.arena, "%s%s%s", l->prefix, l->stem, base);
    if (name == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return base;
    }
    return name;
}

/* The same for an operation: no dots in it, as its block has its own names. */
static const char *operation_name(ridge__lower *l, const char *base)
{
    const char *name = ridge__lower_name(l, base);
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

static int add_tensor(ridge__lower *l, ridge_role role, const char *name,
                      ridge_dtype dtype, ridge__dims dims)
{
    ridge_tensor t = {.name = name,
                      .role = role,
                      .dtype = dtype,
                      .n_dims = dims.n,
                      .gradient_of = -1};
    memcpy(t.dims, dims.d, sizeof t.dims);
    return ridge__builder_tensor(&l->b, &t);
}

int ridge__lower_tensor(ridge__lower *l, ridge_role role, const char *base,
                        ridge_dtype dtype, ridge__dims dims)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    return add_tensor(l, role, ridge__lower_name(l, base), dtype, dims);
}

int ridge__lower_weight(ridge__lower *l, const char *base, ridge__dims dims)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    if (l->weights_block < 0)
        return ridge__lower_tensor(l, RIDGE_ROLE_WEIGHT, base, l->how.weight, dims);
    /* Layers that share weights meet those of the first. */
    const char *name =
        ridge_sprintf(l->b.arena, "%s%s%s", l->shared_prefix, l->stem, base);
    if (name == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    int at = ridge__builder_tensor_find(&l->b, name);
    if (at < 0) {
        at = add_tensor(l, RIDGE_ROLE_WEIGHT, name, l->how.weight, dims);
        if (at >= 0)
            l->b.p.tensors[at].block = l->weights_block;
    }
    return at;
}

void ridge__lower_unread(ridge__lower *l, const char *base, int64_t size)
{
    if (size > 0) {
        const int dim = ridge__lower_dim(l, "Y", size);
        ridge__lower_weight(l, base, RIDGE__DIMS(dim));
    }
}

int ridge__lower_op(ridge__lower *l, ridge_operation *op, const char *out,
                    ridge__dims dims)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    op->name = operation_name(l, out);
    op->n_outputs = 1;
    op->outputs[0] =
        ridge__lower_tensor(l, RIDGE_ROLE_ACTIVATION, out, l->how.activation, dims);
    if (op->outputs[0] < 0 || ridge__builder_op(&l->b, op) < 0)
        return -1;
    return op->outputs[0];
}

int ridge__lower_einsum(ridge__lower *l, const char *out, int a, int b,
                        ridge__dims dims)
{
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_EINSUM, NULL);
    op.part = l->part;
    op.n_inputs = 2;
    op.inputs[0] = a;
    op.inputs[1] = b;
    return ridge__lower_op(l, &op, out, dims);
}

static ridge__dims dims_of(const ridge__lower *l, int tensor)
{
    const ridge_tensor *t = &l->b.p.tensors[tensor];
    ridge__dims dims = {.n = t->n_dims};
    memcpy(dims.d, t->dims, sizeof dims.d);
    return dims;
}

static void push_dims(ridge__dims *dims, const ridge__dims *more)
{
    for (int i = 0; i < more->n && dims->n < RIDGE_TENSOR_DIM_MAX; i++)
        dims->d[dims->n++] = more->d[i];
}

static bool has_dim(const ridge__dims *dims, int dim)
{
    for (int i = 0; i < dims->n; i++) {
        if (dims->d[i] == dim)
            return true;
    }
    return false;
}

int ridge__lower_map(ridge__lower *l, int x, const ridge__map *map)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    ridge__dims of_x = dims_of(l, x), out = {0}, of_w = map->in;
    for (int i = 0; i < of_x.n; i++) {
        if (!has_dim(&map->in, of_x.d[i]))
            out.d[out.n++] = of_x.d[i];
    }
    push_dims(&out, &map->to);
    push_dims(&of_w, &map->to);
    const int w = ridge__lower_weight(l, map->weight, of_w);
    if (!map->has_bias)
        return ridge__lower_einsum(l, map->out, x, w, out);
    const char *raw = ridge_sprintf(l->b.arena, "%s_raw", map->out);
    const char *bias = ridge_sprintf(l->b.arena, "%s_bias", map->weight);
    if (raw == NULL || bias == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    const int y = ridge__lower_einsum(l, raw, x, w, out);
    return ridge__lower_bias(l, map->out, y, bias, map->to);
}

int ridge__lower_function(ridge__lower *l, const char *out, ridge_function f, int a,
                          int b)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ELEMENTWISE, NULL);
    op.part = l->part;
    op.function = f;
    op.n_inputs = b < 0 ? 1 : 2;
    op.inputs[0] = a;
    op.inputs[1] = b < 0 ? 0 : b;
    return ridge__lower_op(l, &op, out, dims_of(l, a));
}

int ridge__lower_bias(ridge__lower *l, const char *out, int x, const char *weight,
                      ridge__dims dims)
{
    const int bias = ridge__lower_weight(l, weight, dims);
    if (ridge__builder_is_bad(&l->b))
        return -1;
    return ridge__lower_function(l, out, RIDGE_FUNCTION_ADD, x, bias);
}

int ridge__lower_norm(ridge__lower *l, const char *out, int x, ridge__dims dims,
                      int vectors)
{
    static const char *const SUFFIXES[] = {"weight", "bias"};
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_NORM, NULL);
    if (ridge__builder_is_bad(&l->b))
        return -1;
    op.norm = vectors > 1 ? RIDGE_NORM_LAYER : l->model->norm_kind;
    op.inputs[op.n_inputs++] = x;
    for (int i = 0; i < vectors && i < (int)RIDGE_COUNT_OF(SUFFIXES); i++) {
        const char *name = ridge_sprintf(l->b.arena, "%s_%s", out, SUFFIXES[i]);
        if (name == NULL) {
            ridge__builder_fail_nomem(&l->b);
            return -1;
        }
        op.inputs[op.n_inputs++] = ridge__lower_weight(l, name, dims);
    }
    return ridge__lower_op(l, &op, out, dims_of(l, x));
}

int ridge__lower_rotary(ridge__lower *l, const char *out, int x)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    if (!ridge__lower_has_rotary(l->model))
        return x;
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ELEMENTWISE, NULL);
    op.part = l->part;
    op.function = RIDGE_FUNCTION_ROTARY;
    op.position_dim = l->dim_t;
    op.n_inputs = 1;
    op.inputs[0] = x;
    return ridge__lower_op(l, &op, out, dims_of(l, x));
}
