/*
 * Pools of servers for deployments of two pools. Only options of as many chips and of
 * one format can beat each other, so that they are kept by both: a search over many
 * formats has tens of thousands in all.
 */
#include "service_choice.h"

#include <stdlib.h>
#include <string.h>

static bool option_beats(const service_option *a, const service_option *b)
{
    return a->chips == b->chips && a->format == b->format &&
           a->requests_per_s >= b->requests_per_s && a->latency_s <= b->latency_s &&
           a->latency_quantile_s <= b->latency_quantile_s &&
           a->transfer_bytes_per_s >= b->transfer_bytes_per_s &&
           a->transfer_ranks * a->transfer_bytes_per_s >=
               b->transfer_ranks * b->transfer_bytes_per_s &&
           a->transfer_bytes <= b->transfer_bytes && a->transfer_s <= b->transfer_s;
}

static bool reserve(ridge_arena *arena, service_options *set, int n)
{
    if (n <= set->cap)
        return true;
    int cap = set->cap == 0 ? 32 : set->cap;
    while (cap < n)
        cap *= 2;
    service_option *grown = ridge_new(arena, service_option, (size_t)cap);
    if (grown == NULL)
        return false;
    if (set->n > 0)
        memcpy(grown, set->of, (size_t)set->n * sizeof *grown);
    set->of = grown;
    set->cap = cap;
    return true;
}

bool service_options_add(ridge_arena *arena, service_options *set,
                         const service_option *option)
{
    int kept = 0;
    for (int i = 0; i < set->n; i++) {
        if (option_beats(&set->of[i], option))
            return true;
    }
    for (int i = 0; i < set->n; i++) {
        if (option_beats(option, &set->of[i]))
            continue;
        if (kept < i)
            set->of[kept] = set->of[i];
        kept++;
    }
    set->n = kept;
    if (!reserve(arena, set, set->n + 1))
        return false;
    set->of[set->n++] = *option;
    return true;
}

bool service_options_copy(ridge_arena *arena, const service_options *from,
                          service_options *out)
{
    service_options copy = {.n = from->n, .cap = from->n};
    if (from->n > 0) {
        copy.of = ridge_new(arena, service_option, (size_t)from->n);
        if (copy.of == NULL)
            return false;
        memcpy(copy.of, from->of, (size_t)from->n * sizeof *copy.of);
    }
    *out = copy;
    return true;
}

/* The set of an option's chips and format. @return NULL: no memory */
static service_options *set_of(ridge_arena *arena, service_shelves *shelves,
                               const service_option *option)
{
    for (int i = 0; i < shelves->n; i++) {
        const service_option *first = &shelves->of[i].of[0];
        if (first->chips == option->chips && first->format == option->format)
            return &shelves->of[i];
    }
    if (shelves->n == shelves->cap) {
        const int cap = shelves->cap == 0 ? 16 : 2 * shelves->cap;
        service_options *grown = ridge_new(arena, service_options, (size_t)cap);
        if (grown == NULL)
            return NULL;
        if (shelves->n > 0)
            memcpy(grown, shelves->of, (size_t)shelves->n * sizeof *grown);
        shelves->of = grown;
        shelves->cap = cap;
    }
    return &shelves->of[shelves->n++];
}

bool service_shelves_add(ridge_arena *arena, service_shelves *shelves,
                         const service_options *options)
{
    for (int i = 0; i < options->n; i++) {
        service_options *set = set_of(arena, shelves, &options->of[i]);
        if (set == NULL || !service_options_add(arena, set, &options->of[i]))
            return false;
    }
    return true;
}

static int by_rate_of_chip(const void *left, const void *right)
{
    const service_option *a = left;
    const service_option *b = right;
    const double x[] = {b->requests_per_s / (double)b->chips,
                        (double)a->chips,
                        a->latency_s,
                        a->batch,
                        (double)a->layout->tp,
                        (double)a->layout->ep,
                        a->format};
    const double y[] = {a->requests_per_s / (double)a->chips,
                        (double)b->chips,
                        b->latency_s,
                        b->batch,
                        (double)b->layout->tp,
                        (double)b->layout->ep,
                        b->format};
    for (size_t i = 0; i < RIDGE_COUNT_OF(x); i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

bool service_shelves_of(ridge_arena *arena, const service_shelves *shelves, int format,
                        service_options *out)
{
    *out = (service_options){0};
    for (int i = 0; i < shelves->n; i++) {
        const service_options *set = &shelves->of[i];
        if (set->of[0].format != format)
            continue;
        if (!reserve(arena, out, out->n + set->n))
            return false;
        memcpy(&out->of[out->n], set->of, (size_t)set->n * sizeof *set->of);
        out->n += set->n;
    }
    if (out->n > 0)
        qsort(out->of, (size_t)out->n, sizeof *out->of, by_rate_of_chip);
    return true;
}
