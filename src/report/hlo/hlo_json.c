/* The keys of `ridge hlo --json`. */
#include "hlo_section.h"

static void set_time(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    ridge_json *time = ridge_json_set_object(cx, object, "time");
    ridge_json_set_double(object, "time_s", s->expected_s);
    ridge_json_set_double(object, "bound_time_s", s->bound_s);
    ridge_json_set_double(time, "bound_s", s->bound_s);
    ridge_json_set_double(time, "expected_s", s->expected_s);
    ridge_json_set_double(time, "low_s", s->low_s);
    ridge_json_set_double(time, "high_s", s->high_s);
    ridge_json_set_text(object, "bound_by", ridge_bound_text(s->bound_by));
    ridge_json_set_double(object, "compute_s", s->compute_s);
    ridge_json_set_double(object, "network_s", s->network_s);
    ridge_json_set_double(object, "exposed_s", s->exposed_s);
    ridge_json_set_double(object, "hidden_s", s->hidden_s);
}

static void set_totals(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    ridge_json_set_i64(object, "devices", s->devices);
    ridge_json_set_bool(object, "is_scheduled", s->module->is_scheduled);
    ridge_json_set_bool(object, "is_fusion_estimated", !s->is_compiled);
    ridge_json_set_bool(object, "is_partitioned", !s->is_whole);
    ridge_json_set_i64(object, "instructions", s->module->n_instructions);
    ridge_json_set_double(object, "flops", ridge_hlo_study_flops(s));
    ridge_json_set_double(object, "matmul_flops", s->matmul_flops);
    ridge_json_set_double(object, "vector_flops", s->vector_flops);
    ridge_json_set_double(object, "transcendentals", s->transcendentals);
    ridge_json_set_double(object, "bytes", s->bytes);
    ridge_json_set_double(object, "padded_bytes", s->padded_bytes);
    ridge_json_set_double(object, "intensity_flops_per_byte",
                          s->bytes > 0 ? ridge_hlo_study_flops(s) / s->bytes : 0);
    if (s->slice) {
        ridge_json_set_text(object, "slice", s->slice->text);
        set_time(cx, object, s);
    } else {
        ridge_json_set_null(object, "time_s");
    }
}

static void set_memory(ridge_ctx *cx, ridge_json *object, const ridge_hlo_memory *m)
{
    ridge_json_set_double(object, "peak_memory_bytes", m->peak_bytes);
    ridge_json *memory = ridge_json_set_object(cx, object, "memory");
    ridge_json_set_double(memory, "argument_bytes", m->argument_bytes);
    ridge_json_set_double(memory, "output_bytes", m->output_bytes);
    ridge_json_set_double(memory, "alias_bytes", m->alias_bytes);
    ridge_json_set_double(memory, "temporary_bytes", m->temporary_bytes);
    ridge_json_set_double(memory, "fast_bytes", m->fast_bytes);
    ridge_json_set_double(memory, "host_bytes", m->host_bytes);
    ridge_json_set_text(memory, "peak_at", m->peak_at);
    ridge_json *list = ridge_json_set_array(cx, memory, "largest");
    for (int k = 0; k < m->n_buffers; k++) {
        ridge_json *b = ridge_json_push_object(cx, list);
        ridge_json_set_text(b, "name", m->buffers[k].name);
        ridge_json_set_text(b, "shape", m->buffers[k].shape);
        ridge_json_set_text(b, "role", m->buffers[k].role);
        ridge_json_set_double(b, "bytes", m->buffers[k].bytes);
    }
}

static void set_categories(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    ridge_json *categories = ridge_json_set_object(cx, object, "categories");
    for (int c = 0; c < RIDGE_HLO_CATEGORY_COUNT; c++) {
        const ridge_hlo_share *share = &s->shares[c];
        if (share->n == 0)
            continue;
        ridge_json *o = ridge_json_set_object(
            cx, categories, ridge_hlo_category_text((ridge_hlo_category)c));
        ridge_json_set_i64(o, "kernels", share->n);
        ridge_json_set_double(o, "flops", share->flops);
        ridge_json_set_double(o, "bytes", share->bytes);
        if (!s->slice)
            continue;
        ridge_json_set_double(o, "time_s", share->exposed_s);
        ridge_json_set_double(o, "bound_s", share->bound_s);
    }
}

static void set_collectives(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    ridge_json *list = ridge_json_set_array(cx, object, "collectives");
    for (int k = 0; k < s->n_ops; k++) {
        const ridge_hlo_op *op = &s->ops[k];
        const ridge_hlo_collective *c = op->collective;
        if (c == NULL)
            continue;
        ridge_json *o = ridge_json_push_object(cx, list);
        ridge_json_set_text(o, "name", op->name);
        ridge_json_set_text(o, "kind", c->kind_text);
        ridge_json_set_double(o, "bytes", c->bytes);
        ridge_json_set_i64(o, "ranks", c->ranks);
        ridge_json_set_i64(o, "groups", c->n_groups);
        ridge_json_set_i64(o, "stride", c->stride);
        ridge_json_set_bool(o, "is_async", c->is_async);
        ridge_json_set_double(o, "times", op->times);
        if (!s->slice)
            continue;
        ridge_json_set_double(o, "time_s", op->expected_s);
        ridge_json_set_double(o, "bound_s", op->bound_s);
        ridge_json_set_double(o, "exposed_s", op->exposed_s);
        ridge_json_set_double(o, "hidden_s", op->hidden_s);
        ridge_json_set_text(o, "algorithm", ridge_algorithm_text(c->algorithm));
    }
}

static void set_op(ridge_json *o, const ridge_hlo_study *s, const ridge_hlo_op *op)
{
    ridge_json_set_text(o, "name", op->name);
    ridge_json_set_text(o, "op", op->code);
    ridge_json_set_text(o, "category", ridge_hlo_category_text(op->category));
    ridge_json_set_text(o, "shape", op->shape);
    ridge_json_set_text(o, "detail", op->detail);
    ridge_json_set_text(o, "scope", op->scope);
    ridge_json_set_text(o, "source", op->source);
    ridge_json_set_i64(o, "line", op->line);
    ridge_json_set_double(o, "times", op->times);
    ridge_json_set_i64(o, "instructions", op->n_operations);
    if (op->is_unknown) {
        ridge_json_set_null(o, "flops");
    } else {
        ridge_json_set_double(
            o, "flops", op->matmul_flops + op->vector_flops + op->transcendentals);
    }
    ridge_json_set_double(o, "matmul_flops", op->matmul_flops);
    ridge_json_set_double(o, "bytes", op->bytes);
    ridge_json_set_double(o, "padded_bytes", op->padded_bytes);
    if (!s->slice)
        return;
    ridge_json_set_double(o, "time_s", op->expected_s);
    ridge_json_set_double(o, "bound_s", op->bound_s);
    ridge_json_set_text(o, "bound_by", ridge_bound_text(op->expected_bound_by));
    ridge_json_set_double(o, "exposed_s", op->exposed_s);
    ridge_json_set_double(o, "hidden_s", op->hidden_s);
}

static void set_buckets(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    static const char *const keys[] = {
        [RIDGE_HLO_BY_CODE] = "by_operation",
        [RIDGE_HLO_BY_SOURCE] = "by_source",
        [RIDGE_HLO_BY_SCOPE] = "by_scope",
        [RIDGE_HLO_BY_LAYER] = "by_computation",
    };
    for (int by = 0; by < RIDGE_HLO_GROUPING_COUNT; by++) {
        ridge_json *list = ridge_json_set_array(cx, object, keys[by]);
        for (int k = 0; k < s->n_buckets[by]; k++) {
            const ridge_hlo_bucket *b = &s->buckets[by][k];
            ridge_json *o = ridge_json_push_object(cx, list);
            ridge_json_set_text(o, "key", b->key);
            ridge_json_set_i64(o, "kernels", b->n);
            ridge_json_set_double(o, "flops", b->flops);
            ridge_json_set_double(o, "bytes", b->bytes);
            if (s->slice)
                ridge_json_set_double(o, "time_s", b->expected_s);
        }
    }
}

static void set_degrees(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    ridge_json *list = ridge_json_set_array(cx, object, "parallelism");
    for (int d = 0; d < s->n_degrees; d++) {
        ridge_json *o = ridge_json_push_object(cx, list);
        ridge_json_set_i64(o, "ways", s->degrees[d].ways);
        ridge_json_set_i64(o, "stride", s->degrees[d].stride);
        ridge_json_set_i64(o, "collectives", s->degrees[d].n_collectives);
        ridge_json_set_double(o, "bytes", s->degrees[d].bytes);
    }
}

static void set_advice(ridge_ctx *cx, ridge_json *object, const ridge_hlo_study *s)
{
    ridge_json *list = ridge_json_set_array(cx, object, "advice");
    for (int k = 0; k < s->n_advice; k++) {
        ridge_json *o = ridge_json_push_object(cx, list);
        ridge_json_set_text(o, "what", s->advice[k].what);
        ridge_json_set_text(o, "evidence", s->advice[k].evidence);
        ridge_json_set_double(o, "worth_s", s->advice[k].worth_s);
    }
}

static void set_lost(ridge_json *object, const ridge_hlo_view *view)
{
    const ridge_hlo_study *s = view->study;
    ridge_json_set_text(object, "cut",
                        s->module->cut ? s->module->cut : view->file->fault);
    ridge_json_set_i64(object, "missing", s->module->n_missing);
    ridge_json_set_i64(object, "unknown_loops", s->n_unknown_loops);
    ridge_json_set_i64(object, "unknown_calls", s->n_unknown);
}

void ridge_hlo_write_json(ridge_ctx *cx, const ridge_hlo_view *view, ridge_json *object)
{
    const ridge_hlo_study *s = view->study;
    const char *name = ridge_str_dup(ridge_ctx_arena(cx), s->module->name);
    ridge_json_set_text(object, "module", name ? name : "");
    if (view->partition)
        ridge__hlo_set_partition(cx, object, view->partition);
    ridge_json_set_i64(object, "modules", view->file->n_modules);
    set_totals(cx, object, s);
    set_memory(cx, object, &s->memory);
    set_categories(cx, object, s);
    set_collectives(cx, object, s);
    ridge_json *ops = ridge_json_set_array(cx, object, "ops");
    for (int k = 0; k < s->n_ops; k++)
        set_op(ridge_json_push_object(cx, ops), s, &s->ops[k]);
    set_buckets(cx, object, s);
    set_degrees(cx, object, s);
    set_advice(cx, object, s);
    set_lost(object, view);
}
