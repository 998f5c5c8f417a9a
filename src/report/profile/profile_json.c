/* The keys of `profile --json`. Times are seconds; the parts of a breakdown sum to its
 * time_s. */
#include "profile_sections.h"

static void set_breakdown(ridge_ctx *cx, const ridge_profile_times *t, double n,
                          ridge_json *object)
{
    ridge_json *b = ridge_json_set_object(cx, object, "breakdown");
    ridge_json *hidden;
    ridge_json_set_double(b, "compute_s",
                          profile_seconds(ridge_profile_compute_ns(t)) / n);
    for (int i = 0; i < RIDGE_PROFILE_PART_COUNT; i++) {
        const char *key = ridge_sprintf(ridge_ctx_arena(cx), "%s_s",
                                        ridge_profile_part_text((ridge_profile_part)i));
        if (key != NULL)
            ridge_json_set_double(b, key, profile_seconds(t->part_ns[i]) / n);
    }
    ridge_json_set_double(b, "exposed_communication_s",
                          profile_seconds(ridge_profile_exposed_ns(t)) / n);
    ridge_json_set_double(b, "hidden_communication_s",
                          profile_seconds(ridge_profile_hidden_ns(t)) / n);
    hidden = ridge_json_set_object(cx, object, "hidden");
    for (int i = RIDGE_PROFILE_PART_ALL_GATHER; i <= RIDGE_PROFILE_PART_COPY; i++) {
        const char *key = ridge_sprintf(ridge_ctx_arena(cx), "%s_s",
                                        ridge_profile_part_text((ridge_profile_part)i));
        if (key != NULL && t->hidden_ns[i] > 0)
            ridge_json_set_double(hidden, key, profile_seconds(t->hidden_ns[i]) / n);
    }
}

static void set_device(ridge_ctx *cx, const ridge_profile_device *d, ridge_json *all)
{
    ridge_json *o = ridge_json_push_object(cx, all);
    const double steps = d->n_steps > 0 ? d->n_steps : 1;
    ridge_json_set_text(o, "name", d->name);
    ridge_json_set_text(o, "hardware", d->hardware);
    if (d->rank >= 0)
        ridge_json_set_i64(o, "rank", d->rank);
    else
        ridge_json_set_null(o, "rank");
    ridge_json_set_i64(o, "operations", d->operations);
    ridge_json_set_i64(o, "steps", d->n_steps);
    ridge_json_set_text(o, "steps_by", ridge_step_source_text(d->steps_by));
    ridge_json_set_double(o, "step_time_s", profile_seconds(d->times.total_ns) / steps);
    set_breakdown(cx, &d->times, steps, o);
    ridge_json *whole = ridge_json_set_object(cx, o, "whole_trace");
    ridge_json_set_double(whole, "span_s", profile_seconds(d->span_ns));
    ridge_json_set_double(whole, "busy_s", profile_seconds(d->busy_ns));
    ridge_json_set_double(whole, "kernel_sum_s", profile_seconds(d->kernel_ns));
    ridge_json_set_double(whole, "kernel_union_s", profile_seconds(d->kernel_union_ns));
    ridge_json_set_double(whole, "exposed_communication_s",
                          profile_seconds(d->exposed_ns));
    ridge_json_set_i64(whole, "kernels", d->kernels);
    ridge_json *queue = ridge_json_set_object(cx, o, "launch_queue");
    ridge_json_set_i64(queue, "launched", d->launched);
    ridge_json_set_i64(queue, "starved", d->starved);
    ridge_json_set_double(
        queue, "mean_lead_s",
        d->launched > 0 ? profile_seconds(d->lead_ns) / (double)d->launched : 0);
}

static void set_steps(ridge_ctx *cx, const ridge_profile *p, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "steps");
    for (int i = 0; i < p->n_devices; i++) {
        const ridge_profile_device *d = &p->devices[i];
        for (int k = 0; k < d->n_steps; k++) {
            ridge_json *o = ridge_json_push_object(cx, all);
            ridge_json_set_text(o, "name", d->steps[k].name);
            ridge_json_set_text(o, "device", d->name);
            if (d->rank >= 0)
                ridge_json_set_i64(o, "rank", d->rank);
            ridge_json_set_double(o, "time_s",
                                  profile_seconds(d->steps[k].times.total_ns));
            set_breakdown(cx, &d->steps[k].times, 1, o);
        }
    }
}

/* ---- operations ------------------------------------------------------------------ */

static void set_op(ridge_ctx *cx, const ridge_profile_op *op, ridge_json *all)
{
    ridge_json *o = ridge_json_push_object(cx, all);
    ridge_json_set_text(o, "name", op->name);
    ridge_json_set_text(o, "class", ridge_profile_class_text(op->class));
    ridge_json_set_text(o, "call", op->call);
    ridge_json_set_text(o, "module", op->module);
    ridge_json_set_text(o, "category", op->category);
    ridge_json_set_text(o, "source", op->source);
    ridge_json_set_text(o, "shapes", op->shapes);
    if (op->layer >= 0)
        ridge_json_set_i64(o, "layer", op->layer);
    ridge_json_set_i64(o, "count", op->count);
    ridge_json_set_double(o, "time_s", profile_seconds(op->time_ns));
    if (op->count > 0) {
        ridge_json_set_double(o, "least_s", profile_seconds(op->least_ns));
        ridge_json_set_double(o, "most_s", profile_seconds(op->most_ns));
    }
    if (op->has_flops)
        ridge_json_set_double(o, "flops", op->flops);
    if (op->has_bytes)
        ridge_json_set_double(o, "bytes", op->bytes);
    if (op->has_dtype)
        ridge_json_set_text(o, "dtype", ridge_dtype_text(op->dtype));
    if (op->has_roofline) {
        ridge_json_set_double(o, "roofline_s", op->roofline_s);
        ridge_json_set_text(o, "bound_by", op->is_memory_bound ? "memory" : "compute");
        ridge_json_set_double(o, "could_win_s", op->gap_s);
    }
}

static void set_groups(ridge_ctx *cx, const ridge_profile_view *v, ridge_json *object)
{
    ridge_profile_group *groups;
    int n;
    ridge_json *all = ridge_json_set_array(cx, object, "groups");
    if (ridge_profile_group_by(cx, v->profile, v->key, &groups, &n) != RIDGE_OK)
        return;
    for (int i = 0; i < n; i++) {
        const ridge_profile_group *g = &groups[i];
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_text(o, ridge_profile_key_text(v->key), g->name);
        ridge_json_set_i64(o, "count", g->count);
        ridge_json_set_double(o, "time_s", profile_seconds(g->time_ns));
        if (g->has_flops && g->flops_ns > 0) {
            ridge_json_set_double(o, "flops", g->flops);
            ridge_json_set_double(o, "flops_per_s",
                                  g->flops / profile_seconds(g->flops_ns));
        }
        if (g->has_bytes && g->bytes_ns > 0) {
            ridge_json_set_double(o, "bytes", g->bytes);
            ridge_json_set_double(o, "bytes_per_s",
                                  g->bytes / profile_seconds(g->bytes_ns));
        }
        if (g->roofline_ns > 0) {
            ridge_json_set_double(o, "roofline_s", g->roofline_s);
            ridge_json_set_double(o, "roofline_of_s", profile_seconds(g->roofline_ns));
            ridge_json_set_double(o, "could_win_s", g->gap_s);
        }
    }
}

/* ---- collectives, gaps, advice ------------------------------------------------------
 */

static void set_positive(ridge_json *o, const char *key, double value)
{
    if (value > 0)
        ridge_json_set_double(o, key, value);
}

static void set_collective(ridge_ctx *cx, const ridge_profile_collective *c,
                           ridge_json *all)
{
    ridge_json *o = ridge_json_push_object(cx, all);
    ridge_json_set_text(o, "kind", ridge_profile_class_text(c->kind));
    ridge_json_set_text(o, "name", c->name);
    ridge_json_set_text(o, "group", c->group);
    if (c->ranks > 0)
        ridge_json_set_i64(o, "ranks", c->ranks);
    if (c->has_bytes)
        ridge_json_set_double(o, "bytes", c->bytes);
    ridge_json_set_i64(o, "count", c->count);
    ridge_json_set_double(o, "time_s", profile_seconds(c->time_ns));
    ridge_json_set_double(o, "exposed_s", profile_seconds(c->exposed_ns));
    ridge_json_set_double(o, "least_s", profile_seconds(c->least_ns));
    ridge_json_set_double(o, "wait_s", profile_seconds(c->wait_ns));
    set_positive(o, "bus_bytes_per_s", c->bus_bytes_per_s);
    set_positive(o, "best_bus_bytes_per_s", c->best_bus_bytes_per_s);
    set_positive(o, "network_bytes_per_s", c->network_bytes_per_s);
    set_positive(o, "expected_s", c->expected_s);
}

static void set_gaps(ridge_ctx *cx, const ridge_profile *p, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "gaps");
    for (int i = 0; i < p->n_gaps; i++) {
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_text(o, "cause", p->gaps[i].cause);
        ridge_json_set_bool(o, "is_input", p->gaps[i].is_input);
        ridge_json_set_bool(o, "is_sync", p->gaps[i].is_sync);
        ridge_json_set_i64(o, "count", p->gaps[i].count);
        ridge_json_set_double(o, "time_s", profile_seconds(p->gaps[i].time_ns));
    }
}

static void set_ranks(ridge_ctx *cx, const ridge_profile *p, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "ranks");
    for (int i = 0; p->n_ranks > 1 && i < p->n_ranks; i++) {
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_i64(o, "rank", p->ranks[i].rank);
        ridge_json_set_text(o, "file", p->ranks[i].file);
        ridge_json_set_double(o, "step_time_s", p->ranks[i].step_s);
        ridge_json_set_double(o, "compute_s", p->ranks[i].compute_s);
        ridge_json_set_double(o, "wait_s", p->ranks[i].wait_s);
    }
}

static void set_advice(ridge_ctx *cx, const ridge_profile *p, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "advice");
    for (int i = 0; i < p->n_advice; i++) {
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_text(o, "key", p->advice[i].key);
        ridge_json_set_text(o, "title", p->advice[i].title);
        ridge_json_set_text(o, "evidence", p->advice[i].evidence);
        ridge_json_set_double(o, "worth_s", p->advice[i].worth_s);
    }
}

static void set_lost(ridge_ctx *cx, const ridge_profile *p, ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "lost");
    for (int i = 0; i < p->n_losses; i++) {
        ridge_json *o = ridge_json_push_object(cx, all);
        ridge_json_set_text(o, "file", p->losses[i].file);
        ridge_json_set_text(o, "what", p->losses[i].what);
        ridge_json_set_i64(o, "count", p->losses[i].count);
        if (p->losses[i].offset >= 0)
            ridge_json_set_i64(o, "offset", p->losses[i].offset);
    }
}

static void set_source(const ridge_profile *p, ridge_json *object)
{
    ridge_json_set_text(object, "format", ridge_trace_format_text(p->format));
    ridge_json_set_text(object, "path", p->path);
    ridge_json_set_i64(object, "files", p->n_files);
    ridge_json_set_i64(object, "events", p->events);
    ridge_json_set_i64(object, "bytes", p->bytes);
    ridge_json_set_text(object, "chip", p->chip == NULL ? NULL : p->chip->name);
    ridge_json_set_bool(object, "is_chip_told", p->is_chip_told);
    if (p->chip_devices > 1)
        ridge_json_set_double(object, "devices_per_chip", p->chip_devices);
    if (p->world > 0)
        ridge_json_set_i64(object, "world_size", p->world);
}

void ridge_profile_write_json(ridge_ctx *cx, const ridge_profile_view *view,
                              ridge_json *object)
{
    const ridge_profile *p = view->profile;
    const double steps = p->steps > 0 ? (double)p->steps : 1;
    set_source(p, object);
    ridge_json_set_double(object, "step_time_s", p->step_s);
    set_breakdown(cx, &p->times, steps, object);
    ridge_json *devices = ridge_json_set_array(cx, object, "devices");
    for (int i = 0; i < p->n_devices; i++)
        set_device(cx, &p->devices[i], devices);
    set_steps(cx, p, object);
    set_groups(cx, view, object);
    ridge_json *ops = ridge_json_set_array(cx, object, "ops");
    for (int i = 0; i < p->n_ops; i++)
        set_op(cx, &p->ops[i], ops);
    ridge_json *collectives = ridge_json_set_array(cx, object, "collectives");
    for (int i = 0; i < p->n_collectives; i++)
        set_collective(cx, &p->collectives[i], collectives);
    set_gaps(cx, p, object);
    set_ranks(cx, p, object);
    set_advice(cx, p, object);
    set_lost(cx, p, object);
    if (p->compilations > 0) {
        ridge_json *o = ridge_json_set_object(cx, object, "compilations");
        ridge_json_set_i64(o, "count", p->compilations);
        ridge_json_set_double(o, "time_s", profile_seconds(p->compilation_ns));
    }
}
