/*
 * What a run shows that its hardware can do. Of operations that are large enough the
 * quickest count, a tenth by time: slow ones have reasons of their own.
 */
#include "ridge/profile_compare.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct rate_row {
    double share; /* of the limit */
    double time_s;
} rate_row;

static int compare_rates(const void *a, const void *b)
{
    const rate_row *x = a;
    const rate_row *y = b;
    return x->share != y->share ? (x->share > y->share ? -1 : 1) : 0;
}

/* The share that the quickest tenth reaches on average; 0 of none. */
static double best_tenth(rate_row *rows, size_t n)
{
    double all_s = 0;
    double taken_s = 0;
    double sum = 0;
    qsort(rows, n, sizeof *rows, compare_rates);
    for (size_t i = 0; i < n; i++)
        all_s += rows[i].time_s;
    for (size_t i = 0; i < n && taken_s < 0.1 * all_s; i++) {
        const double s = fmin(rows[i].time_s, 0.1 * all_s - taken_s);
        sum += rows[i].share * s;
        taken_s += s;
    }
    return taken_s > 0 ? fmin(1, sum / taken_s) : 0;
}

/* Large: long enough that its start does not count. */
static bool is_large(const ridge_profile_op *op)
{
    enum { LEAST_NS = 20000 };
    return op->count > 0 && op->has_roofline && op->time_ns / op->count >= LEAST_NS;
}

static bool is_wanted(const ridge_profile_op *op, ridge_profile_part part, int dtype)
{
    if (!is_large(op) || ridge_profile_class_part(op->class) != part)
        return false;
    if (part == RIDGE_PROFILE_PART_COMPUTE)
        return op->is_memory_bound;
    return !op->is_memory_bound && (dtype < 0 || (int)op->dtype == dtype) &&
           op->has_dtype;
}

static double share_of(const ridge_profile *p, rate_row *rows, ridge_profile_part part,
                       int dtype)
{
    size_t n = 0;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_profile_op *op = &p->ops[i];
        if (!is_wanted(op, part, dtype))
            continue;
        const double time_s = 1e-9 * (double)op->time_ns;
        const double share = op->roofline_s / time_s;
        /* Faster than the memory: from the caches. */
        if (share <= 1.0)
            rows[n++] = (rate_row){share, time_s};
    }
    return best_tenth(rows, n);
}

static void collectives_find(const ridge_profile *p, ridge_profile_rates *r)
{
    enum { LEAST_BYTES = 32 << 20 };
    for (int i = 0; i < p->n_collectives; i++) {
        const ridge_profile_collective *c = &p->collectives[i];
        double *to = c->kind == RIDGE_CLASS_ALL_REDUCE   ? &r->reduce
                     : c->kind == RIDGE_CLASS_ALL_TO_ALL ? &r->all_to_all
                                                         : &r->gather;
        const bool is_known =
            c->kind == RIDGE_CLASS_ALL_REDUCE || c->kind == RIDGE_CLASS_ALL_TO_ALL ||
            c->kind == RIDGE_CLASS_ALL_GATHER || c->kind == RIDGE_CLASS_REDUCE_SCATTER;
        if (!is_known || !c->has_bytes || c->bytes < LEAST_BYTES ||
            c->network_bytes_per_s <= 0)
            continue;
        r->ranks = c->ranks > r->ranks ? c->ranks : r->ranks;
        *to = fmax(*to, fmin(1, c->best_bus_bytes_per_s / c->network_bytes_per_s));
    }
}

ridge_status ridge_profile_rates_find(ridge_ctx *cx, const ridge_profile *profile,
                                      ridge_profile_rates *out)
{
    ridge_profile_rates r = {.ranks = 0};
    rate_row *rows = ridge_new(ridge_ctx_arena(cx), rate_row, (size_t)profile->n_ops);
    if (rows == NULL)
        return ridge_fail_nomem(cx);
    if (profile->chip == NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s does not tell its chip: give it by --on CHIP:SHAPE",
                          profile->path);
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++)
        r.matmul[i] = share_of(profile, rows, RIDGE_PROFILE_PART_MATMUL, i);
    r.attention = share_of(profile, rows, RIDGE_PROFILE_PART_ATTENTION, -1);
    r.memory = share_of(profile, rows, RIDGE_PROFILE_PART_COMPUTE, -1);
    collectives_find(profile, &r);
    bool has_any = r.attention > 0 || r.memory > 0 || r.gather > 0 || r.reduce > 0 ||
                   r.all_to_all > 0;
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++)
        has_any = has_any || r.matmul[i] > 0;
    if (!has_any)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "%s has no large products, streams or collectives whose shapes "
            "it tells: record shapes (record_shapes=True)",
            profile->path);
    *out = r;
    return RIDGE_OK;
}

/* ---- the file -------------------------------------------------------------------- */

typedef struct writer {
    ridge_ctx *cx;
    const char *month; /* of today */
} writer;

/* Three digits: what is measured twice differs in the second. */
static double rounded(double v)
{
    const double unit = v > 0 ? pow(10, floor(log10(v)) - 2) : 1;
    return round(v / unit) * unit;
}

static void fact_put(const writer *w, ridge_json *to, const char *key, double v,
                     const char *note)
{
    ridge_json *fact = ridge_json_set_object(w->cx, to, key);
    ridge_json_set_double(fact, "value", rounded(v));
    ridge_json_set_text(fact, "source", "measured");
    ridge_json_set_text(fact, "date", w->month);
    if (note != NULL)
        ridge_json_set_text(fact, "note", note);
}

static void chip_put(const writer *w, ridge_json *system, const ridge_profile *p,
                     const ridge_profile_rates *r, const char *name)
{
    ridge_json *chip = ridge_json_set_object(w->cx, system, "chip");
    ridge_json_set_text(chip, "name",
                        ridge_sprintf(ridge_ctx_arena(w->cx), "%s-chip", name));
    ridge_json_set_text(chip, "base", p->chip->name);
    ridge_json *a = ridge_json_set_object(w->cx, chip, "achievable");
    ridge_json *matmul = ridge_json_object(w->cx);
    bool has_matmul = false;
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        if (r->matmul[i] <= 0 || !p->chip->has_peak[i])
            continue;
        fact_put(w, matmul, ridge_dtype_text((ridge_dtype)i), r->matmul[i],
                 "the quickest tenth of large products");
        has_matmul = true;
    }
    if (has_matmul)
        ridge_json_set(a, "matmul", matmul);
    if (r->attention > 0)
        fact_put(w, a, "attention", r->attention, "the quickest tenth of attention");
    if (r->memory > 0)
        fact_put(w, a, "memory", r->memory, "the quickest tenth of large streams");
}

static double or_else(double measured, double published)
{
    return measured > 0 ? measured : published;
}

static void level_put(const writer *w, ridge_json *all, const ridge_axis *axis,
                      const ridge_profile_rates *r)
{
    ridge_json *o = ridge_json_push_object(w->cx, all);
    ridge_json_set_text(o, "name", axis->name);
    ridge_json_set_text(o, "kind", ridge_axis_kind_text(axis->kind));
    ridge_json_set_i64(o, "size", axis->size);
    fact_put(w, o, "bytes_per_s", axis->bytes_per_s, "as published");
    fact_put(w, o, "latency_s", axis->latency_s, "as published");
    fact_put(w, o, "startup_s", axis->startup_s, "as published");
    if (axis->kernel_startup_s > 0)
        fact_put(w, o, "kernel_startup_s", axis->kernel_startup_s, "as published");
    fact_put(w, o, "efficiency",
             or_else(r == NULL ? 0 : fmax(r->gather, axis->can_reduce ? 0 : r->reduce),
                     axis->efficiency),
             r != NULL ? "the quickest large collective" : "as published");
    /* Array bytes over link bytes: half of what is on the bus, as n grows. */
    if (axis->reduce_efficiency > 0)
        fact_put(w, o, "reduce_efficiency",
                 or_else(r == NULL ? 0
                                   : r->reduce * (double)r->ranks /
                                         (2 * ((double)r->ranks - 1)),
                         axis->reduce_efficiency),
                 "of all-reduces in the switch");
    if (axis->alltoall_efficiency > 0)
        fact_put(w, o, "alltoall_efficiency",
                 or_else(r == NULL ? 0 : r->all_to_all, axis->alltoall_efficiency),
                 "of all-to-alls");
    if (axis->half_rate_bytes > 0)
        fact_put(w, o, "half_rate_bytes", axis->half_rate_bytes, "as published");
    if (axis->can_reduce)
        ridge_json_set_bool(o, "can_reduce", true);
}

/* Only where the collectives tell of the innermost level of a switched system. */
static void levels_put(const writer *w, ridge_json *object, const ridge_system *s,
                       const ridge_profile_rates *r)
{
    const bool is_told = r->gather > 0 || r->reduce > 0 || r->all_to_all > 0;
    if (!is_told || s->torus_dims > 0 || s->n_levels == 0 || r->ranks < 2 ||
        (s->levels[0].axis.size > 0 && r->ranks > s->levels[0].axis.size))
        return;
    ridge_json_set_i64(object, "chips_per_node", s->chips_per_node);
    ridge_json *all = ridge_json_set_array(w->cx, object, "levels");
    for (int i = 0; i < s->n_levels; i++)
        level_put(w, all, &s->levels[i].axis, i == 0 ? r : NULL);
}

static const char *month_now(ridge_ctx *cx)
{
    const time_t now = time(NULL);
    struct tm t = {.tm_year = 70};
    if (gmtime_r(&now, &t) == NULL)
        return "1970-01";
    const char *month =
        ridge_sprintf(ridge_ctx_arena(cx), "%04d-%02d", t.tm_year + 1900, t.tm_mon + 1);
    return month == NULL ? "1970-01" : month;
}

ridge_json *ridge_profile_to_system(ridge_ctx *cx, const ridge_profile *profile,
                                    const ridge_profile_rates *rates,
                                    const ridge_system *system, const char *name)
{
    const writer w = {cx, month_now(cx)};
    ridge_json *object = ridge_json_object(cx);
    ridge_json_set_text(object, "name", name);
    ridge_json_set_text(object, "full_name",
                        ridge_sprintf(ridge_ctx_arena(cx),
                                      "%s, as a profile measured it",
                                      system->full_name));
    ridge_json_set_text(object, "base", system->name);
    chip_put(&w, object, profile, rates, name);
    levels_put(&w, object, system, rates);
    return object;
}
