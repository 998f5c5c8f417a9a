/*
 * A calibration as a system file: the chip is a rank, its facts what was measured, and
 * the ranks of the machine are one node. Rates by size are in "measured"; the facts
 * beside them are for bounds and for verbs that ask for one number.
 */
#include "ridge/execute_calibrate.h"

#include <math.h>
#include <string.h>

typedef struct writer {
    ridge_ctx *cx;
    const ridge_calibration *c;
} writer;

/* Four digits: what is measured twice differs in the second. */
static double rounded(double v)
{
    const double unit = v > 0.0 ? pow(10.0, floor(log10(v)) - 3.0) : 1.0;
    return v > 0.0 ? round(v / unit) * unit : 0.0;
}

static void put_fact(const writer *w, ridge_json *to, const char *key, double v,
                     const char *note)
{
    ridge_json *fact = ridge_json_set_object(w->cx, to, key);
    ridge_json_set_double(fact, "value", rounded(v));
    ridge_json_set_text(fact, "source", w->c->chip.source);
    ridge_json_set_text(fact, "date", w->c->date);
    ridge_json_set_text(fact, "note", note);
}

static void put_numbers(ridge_ctx *cx, ridge_json *to, const char *key, const double *v,
                        size_t n)
{
    ridge_json *array = ridge_json_set_array(cx, to, key);
    for (size_t i = 0; i < n; i++)
        ridge_json_push_double(array, rounded(v[i]));
}

static void put_grids(const writer *w, ridge_json *to, const char *key,
                      const ridge_grid_list *list, const char *const *axes)
{
    ridge_json *all = ridge_json_set_object(w->cx, to, key);
    for (int i = 0; i < list->n; i++) {
        const ridge_grid *g = &list->items[i].grid;
        ridge_json *one = ridge_json_set_object(w->cx, all, list->items[i].name);
        size_t n = 1;
        for (int a = 0; a < g->n_axes; a++) {
            put_numbers(w->cx, one, axes[a], g->axes[a], (size_t)g->sizes[a]);
            n *= (size_t)g->sizes[a];
        }
        put_numbers(w->cx, one, "rates", g->rates, n);
    }
}

static void put_source(const writer *w, ridge_json *to)
{
    ridge_json_set_text(to, "source", w->c->chip.source);
    ridge_json_set_text(to, "date", w->c->date);
}

/* What has been measured at most: bounds stand on it. */
typedef struct limits {
    double fp32, bf16; /* products' FLOP/s; bf16 0: not measured */
    double attention;
    double bytes_per_s;
} limits;

static double rate_most(const ridge_grid_list *list, const char *name)
{
    double most = 0.0;
    for (int i = 0; i < list->n; i++) {
        if (name == NULL || strcmp(list->items[i].name, name) == 0)
            most = fmax(most, ridge_grid_rate_most(&list->items[i].grid));
    }
    return most;
}

/* No product may beat the peak: where clocks let one, it is the peak. */
static limits find_limits(const ridge_calibration *c)
{
    limits l = {.bf16 = rate_most(&c->chip.matmul, "bf16"),
                .attention = rate_most(&c->chip.attention, NULL)};
    l.fp32 = fmax(c->peak_flops_per_s, rate_most(&c->chip.matmul, "fp32"));
    l.fp32 = fmax(l.fp32, l.attention);
    if (l.bf16 > 0.0) /* at worst converted, and multiplied in fp32 */
        l.bf16 = fmax(l.bf16, l.fp32);
    l.bytes_per_s = fmax(fmax(c->copy_bytes_per_s, c->read_bytes_per_s),
                         rate_most(&c->chip.stream, NULL));
    return l;
}

static double share(double part, double whole)
{
    return fmin(1.0, fmax(0.01, part / whole));
}

static void put_achievable(const writer *w, const limits *l, ridge_json *chip)
{
    const ridge_calibration *c = w->c;
    ridge_json *a = ridge_json_set_object(w->cx, chip, "achievable");
    ridge_json *matmul = ridge_json_set_object(w->cx, a, "matmul");
    put_fact(w, matmul, "fp32", share(rate_most(&c->chip.matmul, "fp32"), l->fp32),
             "the fastest product");
    if (l->bf16 > 0.0)
        put_fact(w, matmul, "bf16", share(rate_most(&c->chip.matmul, "bf16"), l->bf16),
                 "the fastest product");
    put_fact(w, a, "attention", share(l->attention, l->bf16 > 0.0 ? l->bf16 : l->fp32),
             "the fastest attention");
    put_fact(w, a, "memory", share(c->copy_bytes_per_s, l->bytes_per_s),
             "copies beyond the caches");
    put_fact(w, a, "launch_s", c->launch_s, "an instruction beside its kernel");
}

static void put_facts(const writer *w, ridge_json *chip)
{
    const limits l = find_limits(w->c);
    ridge_json *peaks = ridge_json_set_object(w->cx, chip, "peak_flops_per_s");
    put_fact(w, peaks, "fp32", l.fp32, "multiply-adds on registers");
    if (l.bf16 > 0.0)
        put_fact(w, peaks, "bf16", l.bf16, "the fastest product, or fp32's peak");
    put_fact(w, chip, "vector_flops_per_s", l.fp32, "multiply-adds on registers");
    put_fact(w, chip, "hbm_bytes", w->c->memory_bytes, "a rank's share");
    put_fact(w, chip, "hbm_bytes_per_s", l.bytes_per_s, "the fastest stream");
    put_achievable(w, &l, chip);
}

static void put_measured(const writer *w, ridge_json *chip)
{
    static const char *const matmul[] = {"m", "k", "n"};
    static const char *const attention[] = {"context", "head_dim"};
    static const char *const stream[] = {"bytes"};
    const ridge_measured_chip *m = &w->c->chip;
    ridge_json *measured = ridge_json_set_object(w->cx, chip, "measured");
    put_source(w, measured);
    ridge_json_set_bool(measured, "fuses", m->is_fused);
    ridge_json_set_bool(measured, "overlaps", m->is_overlapped);
    ridge_json_set_bool(measured, "balances", m->is_balanced);
    ridge_json_set_double(measured, "processor_share", m->processor_share);
    put_grids(w, measured, "matmul_flops_per_s", &m->matmul, matmul);
    put_grids(w, measured, "attention_flops_per_s", &m->attention, attention);
    put_grids(w, measured, "stream_bytes_per_s", &m->stream, stream);
}

static void put_chip(const writer *w, ridge_json *system, const char *name)
{
    const ridge_calibration *c = w->c;
    ridge_arena *arena = ridge_ctx_arena(w->cx);
    ridge_json *chip = ridge_json_set_object(w->cx, system, "chip");
    ridge_json_set_text(chip, "name", ridge_sprintf(arena, "%s-rank", name));
    ridge_json_set_text(chip, "full_name",
                        ridge_sprintf(arena, "%d of %d processors: %s", c->threads,
                                      c->processors, c->cpu));
    ridge_json_set_text(chip, "vendor", "this machine");
    ridge_json_set_text(chip, "kind", "cpu");
    ridge_json_set_i64(chip, "year", c->year);
    ridge_json_set_text(chip, "default_system", name);
    put_facts(w, chip);
    put_measured(w, chip);
}

/* ---- the network between ranks --------------------------------------------------- */

/* The smallest message is all latency, the largest all bandwidth. */
static void put_level(const writer *w, ridge_json *levels)
{
    static const char *const axes[] = {"ranks", "bytes"};
    const ridge_calibration *c = w->c;
    const ridge_grid *send = ridge_grid_find(&c->level.collective, "send-recv");
    const double least[] = {(double)c->ranks, 1.0};
    ridge_json *level = ridge_json_push_object(w->cx, levels);
    const double rate = rate_most(&c->level.collective, NULL);
    ridge_json_set_text(level, "name", "ranks");
    ridge_json_set_text(level, "kind", "switch");
    ridge_json_set_i64(level, "size", c->ranks);
    put_fact(w, level, "bytes_per_s", rate > 0.0 ? rate : c->copy_bytes_per_s,
             "the fastest collective");
    put_fact(w, level, "latency_s", 0.0, "in startup_s");
    put_fact(w, level, "startup_s", send ? 1.0 / ridge_grid_rate(send, least) : 0.0,
             "the smallest message");
    put_fact(w, level, "efficiency", 1.0, "see measured");
    put_fact(w, level, "half_rate_bytes", 0.0, "see measured");
    if (c->level.collective.n == 0)
        return;
    ridge_json *measured = ridge_json_set_object(w->cx, level, "measured");
    put_source(w, measured);
    put_grids(w, measured, "collective_bytes_per_s", &c->level.collective, axes);
}

ridge_json *ridge_calibration_to_system(ridge_ctx *cx, const ridge_calibration *c,
                                        const char *name)
{
    const writer w = {cx, c};
    ridge_json *system = ridge_json_object(cx);
    ridge_json_set_text(system, "name", name);
    ridge_json_set_text(
        system, "full_name",
        ridge_sprintf(ridge_ctx_arena(cx), "%d ranks (%s) of %d threads on %s",
                      c->ranks, ridge_engine_text(c->engine), c->threads, c->cpu));
    put_chip(&w, system, name);
    ridge_json_set_i64(system, "chips_per_node", c->ranks);
    put_level(&w, ridge_json_set_array(cx, system, "levels"));
    return system;
}
