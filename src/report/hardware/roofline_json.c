/* A roofline as JSON. */
#include "ridge/report.h"

#include "ridge/cost_range.h"

#include <math.h>

static void set_range(ridge_json *object, const ridge_roofline *r)
{
    const ridge_time time = {r->cost.bound_s, r->cost.expected_s};
    const ridge_range range = ridge_range_of(ridge_measured_of_op(&r->op), time);
    ridge_json_set_double(object, "range_low_s", range.low_s);
    ridge_json_set_double(object, "range_high_s", range.high_s);
}

static void set_cost(ridge_json *object, const ridge_op_cost *c)
{
    ridge_json_set_double(object, "time_s", c->expected_s);
    ridge_json_set_double(object, "bound_time_s", c->bound_s);
    ridge_json_set_text(object, "bound_by", ridge_bound_text(c->bound_by));
    ridge_json_set_text(object, "expected_bound_by",
                        ridge_bound_text(c->expected_bound_by));
}

static void set_shape(ridge_ctx *cx, const ridge_roofline *r, ridge_json *object)
{
    const ridge_matmul_shape *s = &r->shape;
    ridge_json *shape = ridge_json_set_object(cx, object, "shape");
    ridge_json_set_double(shape, "efficiency", r->cost.shape_efficiency);
    ridge_json_set_double(shape, "tile_efficiency", r->cost.tile_efficiency);
    ridge_json_set_double(shape, "wave_efficiency", r->cost.wave_efficiency);
    if (s->padded_m > 0) {
        ridge_json *padded = ridge_json_set_object(cx, shape, "padded");
        ridge_json_set_double(padded, "m", s->padded_m);
        ridge_json_set_double(padded, "k", s->padded_k);
        ridge_json_set_double(padded, "n", s->padded_n);
    }
    if (s->tile_m > 0) {
        ridge_json_set_double(shape, "tile_m", s->tile_m);
        ridge_json_set_double(shape, "tile_n", s->tile_n);
        ridge_json_set_double(shape, "tiles", s->tiles);
        ridge_json_set_double(shape, "waves", s->waves);
        ridge_json_set_double(shape, "split_k", s->split_k);
    }
}

/* size is null where no size makes the operation compute bound. */
static void set_critical(ridge_ctx *cx, const ridge_roofline *r, ridge_json *object)
{
    ridge_json *critical = ridge_json_set_object(cx, object, "critical");
    if (!r->critical_dim) {
        ridge_json_set_null(critical, "dim");
        ridge_json_set_null(critical, "size");
        return;
    }
    ridge_json_set_text(critical, "dim", r->critical_dim);
    ridge_json_set_double(critical, "size", r->critical_size);
    if (r->critical_limit > 0)
        ridge_json_set_double(critical, "limit", r->critical_limit);
}

static void set_einsum(ridge_ctx *cx, const ridge_einsum *e, ridge_json *object)
{
    ridge_json *dims = ridge_json_set_array(cx, object, "dims");
    for (int i = 0; i < e->n_dims; i++) {
        const char letter[2] = {e->letters[i], '\0'};
        ridge_json *dim = ridge_json_push_object(cx, dims);
        ridge_json_set_text(dim, "name", letter);
        ridge_json_set_i64(dim, "size", e->sizes[i]);
        ridge_json_set_text(dim, "role", ridge_dim_role_text(ridge_einsum_role(e, i)));
    }
}

static void set_attention(ridge_ctx *cx, const ridge_attention *a, ridge_json *object)
{
    ridge_json *dims = ridge_json_set_object(cx, object, "attention");
    ridge_json_set_double(dims, "batch", a->batch);
    ridge_json_set_double(dims, "query_tokens", a->query_tokens);
    ridge_json_set_double(dims, "context_tokens", a->context_tokens);
    ridge_json_set_double(dims, "heads", a->heads);
    ridge_json_set_double(dims, "kv_heads", a->kv_heads);
    ridge_json_set_double(dims, "head_dim", a->head_dim);
    ridge_json_set_double(dims, "v_head_dim", a->v_head_dim);
    ridge_json_set_double(dims, "window", a->window);
    ridge_json_set_bool(dims, "is_causal", a->is_causal);
}

static double flops_of(const ridge_roofline *r, const ridge_op_cost *c)
{
    return r->is_matmul ? c->matmul_flops : c->vector_flops;
}

static void set_sweep(ridge_ctx *cx, const ridge_roofline *r, ridge_json *object)
{
    ridge_json *sweep = ridge_json_set_array(cx, object, "sweep");
    for (size_t i = 0; i < r->n_points; i++) {
        const ridge_roofline_point *p = &r->points[i];
        ridge_json *point = ridge_json_push_object(cx, sweep);
        ridge_json_set_double(point, r->sweep_dim, p->size);
        set_cost(point, &p->cost);
        ridge_json_set_double(point, "flops_per_s",
                              flops_of(r, &p->cost) / p->cost.expected_s);
        ridge_json_set_double(point, "bound_flops_per_s",
                              flops_of(r, &p->cost) / p->cost.bound_s);
        ridge_json_set_double(point, "intensity_flops_per_byte",
                              p->cost.intensity_flops_per_byte);
        ridge_json_set_double(point, "shape_efficiency", p->cost.shape_efficiency);
    }
}

static void set_formats(ridge_ctx *cx, const ridge_roofline *r, ridge_json *object)
{
    const ridge_formats *f = &r->op.formats;
    ridge_json *dtypes = ridge_json_set_object(cx, object, "dtypes");
    ridge_json_set_text(dtypes, "activations", ridge_dtype_text(f->activation));
    ridge_json_set_text(dtypes, "weights", ridge_dtype_text(f->weight));
    ridge_json_set_text(dtypes, "output", ridge_dtype_text(f->output));
    ridge_json_set_text(dtypes, "compute", ridge_dtype_text(r->compute));
    ridge_json_set_text(dtypes, "compute_asked", ridge_dtype_text(f->compute));
}

void ridge_roofline_write_json(ridge_ctx *cx, const ridge_roofline_view *view,
                               ridge_json *object)
{
    const ridge_roofline *r = view->roofline;
    const ridge_op_cost *c = &r->cost;
    ridge_json_set_text(object, "op", r->op.text);
    ridge_json_set_text(object, "chip", r->chip->name);
    ridge_json_set_text(object, "slice", view->slice->text);
    ridge_json_set_i64(object, "chips_used", 1);
    ridge_json_set_text(object, "memory", ridge_memory_text(r->op.memory));
    ridge_json_set_bool(object, "fits_hbm", r->cost.bytes <= r->chip->hbm_bytes);
    const double room = ridge_memory_bytes(r->chip, r->op.memory);
    if (room > 0)
        ridge_json_set_bool(object, "fits_memory", c->bytes <= room);
    set_formats(cx, r, object);
    ridge_json_set_double(object, "flops", r->flops);
    ridge_json_set_double(object, "flops_exact", r->flops_exact);
    ridge_json_set_double(object, "vector_flops", c->vector_flops);
    ridge_json_set_double(object, "bytes", c->bytes);
    ridge_json_set_double(object, "intensity_flops_per_byte",
                          c->intensity_flops_per_byte);
    ridge_json_set_double(object, "ridge_flops_per_byte", r->ridge_flops_per_byte);
    ridge_json_set_double(object, "peak_flops_per_s", r->peak_flops_per_s);
    ridge_json_set_double(object, "bytes_per_s", r->bytes_per_s);
    set_cost(object, c);
    set_range(object, r);
    ridge_json_set_double(object, "serial_time_s", c->serial_s);
    ridge_json_set_double(object, "compute_s", c->compute_s);
    ridge_json_set_double(object, "memory_s", c->memory_s);
    ridge_json_set_double(object, "vector_s", c->vector_s);
    ridge_json_set_double(object, "flops_per_s", r->flops / c->expected_s);
    ridge_json_set_double(object, "bound_flops_per_s", r->flops / c->bound_s);
    set_shape(cx, r, object);
    set_critical(cx, r, object);
    if (r->op.kind == RIDGE_OP_EINSUM)
        set_einsum(cx, &r->op.einsum, object);
    if (r->op.kind == RIDGE_OP_ATTENTION)
        set_attention(cx, &r->op.attention, object);
    if (r->sweep_dim)
        set_sweep(cx, r, object);
}
