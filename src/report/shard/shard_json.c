/* A sharded einsum as JSON: the keys of `ridge shard --json`. */
#include "laid_text.h"
#include "shard_proof.h"

#include "ridge/report_shard.h"

static void set_notation(ridge_ctx *cx, const ridge_expr *expr, ridge_json *object,
                         const char *key)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_expr_write(expr, &b);
    ridge_json_set_text(object, key, ridge_buf_text(&b));
}

static void set_dim(const ridge_expr *expr, const ridge_expr_tensor *t, int at,
                    const char *key, ridge_json *object)
{
    ridge_json_set_text(object, key, at < 0 ? NULL : expr->dims[t->dims[at]].name);
}

static void push_step(ridge_ctx *cx, const ridge_shard_study *study,
                      const ridge_priced_strategy *p, int at, ridge_json *rows)
{
    const ridge_expr *e = &study->expr;
    const ridge_reshard *step = &p->strategy.steps[at];
    const ridge_expr_tensor *t = ridge_expr_operand(e, step->operand);
    ridge_json *row = ridge_json_push_object(cx, rows);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_reshard_write(e, step, &b);
    ridge_json_set_text(row, "text", ridge_buf_text(&b));
    ridge_json_set_text(row, "kind", ridge_step_kind_text(step->kind));
    ridge_json_set_text(row, "array", t->name);
    ridge_json *axes = ridge_json_set_array(cx, row, "axes");
    for (int i = 0; i < step->n_axes; i++)
        ridge_json_push_text(axes, e->mesh.axes[step->axes[i]].name);
    set_dim(e, t, step->dim_from, "from", row);
    set_dim(e, t, step->dim_to, "to", row);
    ridge_json_set_bool(row, "is_before_product", at < p->strategy.n_before);
    ridge_json_set_double(row, "bytes", step->bytes);
    ridge_json_set_double(row, "sent_bytes", ridge_reshard_sent_bytes(&e->mesh, step));
    if (study->slice) {
        ridge_json_set_double(row, "time_s", p->cost.steps[at].expected_s);
        ridge_json_set_double(row, "bound_time_s", p->cost.steps[at].bound_s);
    }
}

static void set_shape(ridge_ctx *cx, const ridge_expr *e, const ridge_expr_tensor *t,
                      const ridge_sharding *s, ridge_json *object)
{
    ridge_json *shape = ridge_json_set_array(cx, object, t->name);
    for (int d = 0; d < t->n_dims; d++) {
        ridge_json_push_i64(
            shape, ridge_dim_local(&e->mesh, &s->dims[d], e->dims[t->dims[d]].size));
    }
}

static void push_axes(ridge_ctx *cx, const ridge_mesh *mesh, unsigned axes,
                      ridge_json *object)
{
    ridge_json *names = ridge_json_set_array(cx, object, "partial");
    for (int a = 0; a < mesh->n; a++) {
        if (axes >> a & 1u)
            ridge_json_push_text(names, mesh->axes[a].name);
    }
}

/* How an array lies: each dim with the axes that cut it, outermost first. */
static void push_array(ridge_ctx *cx, const ridge_expr *e, const ridge_expr_tensor *t,
                       const ridge_sharding *s, ridge_json *arrays)
{
    ridge_json *array = ridge_json_push_object(cx, arrays);
    ridge_json_set_text(array, "name", t->name);
    ridge_json *dims = ridge_json_set_array(cx, array, "dims");
    for (int d = 0; d < t->n_dims; d++) {
        ridge_json *dim = ridge_json_push_object(cx, dims);
        const ridge_dim_axes *axes = &s->dims[d];
        const int64_t size = e->dims[t->dims[d]].size;
        ridge_json_set_text(dim, "name", e->dims[t->dims[d]].name);
        ridge_json_set_i64(dim, "size", size);
        ridge_json_set_i64(dim, "local", ridge_dim_local(&e->mesh, axes, size));
        ridge_json *names = ridge_json_set_array(cx, dim, "axes");
        for (int a = 0; a < axes->n; a++)
            ridge_json_push_text(names, e->mesh.axes[axes->axes[a]].name);
    }
    push_axes(cx, &e->mesh, s->partial, array);
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    ridge_expr_tensor_sizes(e, t, sizes);
    const double bytes =
        ridge_sharding_local_elements(&e->mesh, s, sizes) * t->element_bytes;
    ridge_json_set_double(array, "local_bytes", bytes);
    ridge_json_set_double(array, "mesh_bytes",
                          bytes * (double)ridge_mesh_size(&e->mesh));
}

/* As given, or with @p inputs as a strategy multiplies them. */
static void set_arrays(ridge_ctx *cx, const ridge_expr *e, const ridge_sharding *inputs,
                       ridge_json *object)
{
    ridge_json *arrays = ridge_json_set_array(cx, object, "arrays");
    for (int i = 0; i < e->n_inputs; i++) {
        const ridge_expr_tensor *t = &e->inputs[i];
        push_array(cx, e, t, inputs ? &inputs[i] : &t->sharding, arrays);
    }
    push_array(cx, e, &e->output, &e->output.sharding, arrays);
}

/* Operands as multiplied, the output as wanted. */
static void set_shapes(ridge_ctx *cx, const ridge_expr *e, const ridge_strategy *s,
                       ridge_json *row)
{
    ridge_json *shapes = ridge_json_set_object(cx, row, "local_shapes");
    for (int i = 0; i < e->n_inputs; i++)
        set_shape(cx, e, &e->inputs[i], &s->inputs[i], shapes);
    set_shape(cx, e, &e->output, &e->output.sharding, shapes);
}

static void set_times(const ridge_shard_study *study, const ridge_strategy *s,
                      const ridge_strategy_cost *cost, ridge_json *row)
{
    const bool has = study->has_overlap;
    const ridge_range range = ridge_strategy_range(s, cost, has);
    ridge_json_set_double(row, "time_s", has ? cost->overlapped_s : cost->time_s);
    ridge_json_set_double(row, "exposed_s", has ? cost->exposed_s : cost->network_s);
    ridge_json_set_double(row, "overlapped_time_s", cost->overlapped_s);
    ridge_json_set_double(row, "bound_time_s", cost->bound_s);
    ridge_json_set_double(row, "range_low_s", range.low_s);
    ridge_json_set_double(row, "range_high_s", range.high_s);
    ridge_json_set_text(row, "bound_by", ridge_bound_text(cost->bound_by));
    ridge_json_set_double(row, "compute_s", cost->compute.expected_s);
    ridge_json_set_double(row, "network_s", cost->network_s);
    ridge_json_set_double(row, "flops_per_chip", cost->flops);
}

static void push_strategy(ridge_ctx *cx, const ridge_shard_view *view, int which,
                          ridge_json *rows)
{
    const ridge_shard_study *study = view->study;
    const ridge_priced_strategy *p = &study->strategies[which];
    ridge_json *row = ridge_json_push_object(cx, rows);
    ridge_json *steps = ridge_json_set_array(cx, row, "collectives");
    for (int i = 0; i < p->strategy.n_steps; i++)
        push_step(cx, study, p, i, steps);
    if (study->slice)
        set_times(study, &p->strategy, &p->cost, row);
    set_shapes(cx, &study->expr, &p->strategy, row);
    set_arrays(cx, &study->expr, p->strategy.inputs, row);
    ridge_json_set_double(row, "bytes_per_chip", study->output_bytes);
    ridge_json_set_double(row, "held_bytes_per_chip", p->held_bytes);
    ridge_json_set_double(row, "sent_bytes_per_chip", p->sent_bytes);
    ridge_json_set_double(row, "padding_share",
                          ridge_strategy_padding(&study->expr, &p->strategy));
    ridge__shard_proof_set_strategy(cx, view, which, row);
}

void ridge_shard_write_json(ridge_ctx *cx, const ridge_shard_view *view,
                            ridge_json *object)
{
    const ridge_shard_study *study = view->study;
    const ridge_expr *e = &study->expr;
    set_notation(cx, e, object, "expression");
    ridge_json_set_i64(object, "case", ridge_expr_case(e));
    ridge_json *mesh = ridge_json_set_object(cx, object, "mesh");
    for (int i = 0; i < e->mesh.n; i++)
        ridge_json_set_i64(mesh, e->mesh.axes[i].name, e->mesh.axes[i].size);
    ridge_json *dims = ridge_json_set_object(cx, object, "dims");
    for (int i = 0; i < e->n_dims; i++)
        ridge_json_set_i64(dims, e->dims[i].name, e->dims[i].size);
    set_arrays(cx, e, NULL, object);
    if (study->slice)
        ridge__placement_set(cx, &e->mesh, &study->laid, study->placements, object);
    ridge_json_set_bool(object, "is_overlapped", study->has_overlap);
    ridge_json *rows = ridge_json_set_array(cx, object, "strategies");
    for (int i = 0; i < study->n; i++)
        push_strategy(cx, view, i, rows);
    if (view->proof)
        ridge__shard_proof_set(cx, view->proof, object);
}
