#include "search_memory.h"

#include <math.h>

enum { REMATS = RIDGE_REMAT_COUNT };

/* Remat policies from the least work done again to the most. */
static const ridge_remat remats[REMATS] = {
    RIDGE_REMAT_NONE,    RIDGE_REMAT_ELEMENTWISE, RIDGE_REMAT_SELECTIVE,
    RIDGE_REMAT_MATMULS, RIDGE_REMAT_FFN,         RIDGE_REMAT_FULL};

/* Unasked, nothing is offloaded. */
static bool is_offload_wanted(const train_case *tc, const ridge_knobs *k,
                              unsigned offload)
{
    if (offload == RIDGE_OFFLOAD_NONE)
        return k->offload <= RIDGE_OFFLOAD_NONE;
    if (train_host_bytes_per_s(tc->chip) <= 0)
        return false;
    return k->offload == RIDGE_KNOB_ANY || k->offload == (int)offload;
}

/* A generation of software computes parts of a layer again only where it is told to. */
static bool is_remat_wanted(const train_case *tc, const ridge_knobs *k,
                            ridge_remat remat)
{
    const bool is_of_parts =
        remat == RIDGE_REMAT_ELEMENTWISE || remat == RIDGE_REMAT_FFN;
    if (k->remat == RIDGE_REMAT_OPERATIONS)
        return k->remat_ops == 0 && remat == RIDGE_REMAT_NONE;
    if (k->remat >= 0)
        return k->remat == (int)remat;
    return tc->stack == NULL || !is_of_parts;
}

static int64_t offload_count(const train_case *tc, const ridge_knobs *k)
{
    int64_t offloads = 0;
    for (unsigned o = 0; o <= RIDGE_OFFLOAD_ALL; o++)
        offloads += is_offload_wanted(tc, k, o);
    return offloads;
}

int64_t memory_choice_count(const train_case *tc, const ridge_knobs *k)
{
    int64_t policies = 0;
    for (int i = 0; i < REMATS; i++)
        policies += is_remat_wanted(tc, k, remats[i]);
    return offload_count(tc, k) * (policies + tc->n_named);
}

typedef struct finder {
    const train_case *tc;
    const train_terms *terms;
    const memory_search *how;
    ridge_layout layout;
    int64_t microbatches;
    double none_bytes; /* with nothing computed again and this on the host */
    memory_choices *out;
} finder;

/* The layout's memory; whether it fits. */
static bool measure(finder *f, int64_t remat_layers, memory_choice *out)
{
    ridge_layout *l = &f->layout;
    l->remat_layers = remat_layers;
    *out = (memory_choice){.remat = l->remat,
                           .remat_ops = l->remat_ops,
                           .remat_layers = remat_layers,
                           .offload = l->offload};
    out->memory = train_peak_memory(f->tc, f->terms, l, f->microbatches,
                                    f->how->is_nearest_wanted ? (double)INFINITY
                                                              : f->tc->usable_bytes,
                                    &out->fullest_stage);
    if (ridge_memory_total_bytes(&out->memory) > f->tc->usable_bytes)
        return false;
    out->host_bytes = train_host_bytes(f->tc, f->terms, l, f->microbatches);
    const bool is_held = train_host_holds(f->tc, out->host_bytes);
    f->out->is_host_short = f->out->is_host_short || !is_held;
    return is_held;
}

static void keep(finder *f, const memory_choice *c)
{
    f->out->choices[f->out->n++] = *c;
}

static void keep_nearest(finder *f, const memory_choice *c)
{
    double bytes = ridge_memory_total_bytes(&c->memory);
    f->out->refused++;
    if (f->out->has_nearest && f->out->nearest.peak_memory_bytes <= bytes)
        return;
    f->out->has_nearest = true;
    f->out->nearest = (ridge_train_price){.layout = f->layout,
                                          .fit = RIDGE_FIT_OVER_HBM,
                                          .memory = c->memory,
                                          .fullest_stage = c->fullest_stage,
                                          .peak_memory_bytes = bytes,
                                          .microbatches = f->microbatches};
}

/* Layers that would do if each freed the same: the fullest stage decides, mostly. */
static int64_t guess_layers(const finder *f, const memory_choice *all, int64_t most)
{
    const double over = f->none_bytes - f->tc->usable_bytes;
    const double freed = f->none_bytes - ridge_memory_total_bytes(&all->memory);
    const double layers = freed > 0 ? ceil((double)most * over / freed) : (double)most;
    return layers < 1 ? 1 : layers < (double)most ? (int64_t)layers : most - 1;
}

/* As few layers as fit, given that all of them do: looked for around a guess, in steps
 * that double, and never beyond the middle. */
static void keep_fewest(finder *f, const memory_choice *all)
{
    int64_t low = 0; /* does not fit, or is another policy */
    int64_t high = (int64_t)f->terms->stages->layers_most;
    int64_t tried = guess_layers(f, all, high);
    memory_choice best = *all;
    for (int64_t step = 1; high - low > 1; step *= 2) {
        memory_choice c;
        const bool is_enough = measure(f, tried, &c);
        if (is_enough) {
            high = tried;
            best = c;
        } else {
            low = tried;
        }
        const int64_t middle = low + (high - low) / 2;
        const int64_t near = is_enough ? high - step : low + step;
        tried = (near < middle) == is_enough ? middle : near;
    }
    keep(f, &best);
    if ((f->how->is_front_wanted || f->how->is_whole_wanted) && best.remat_layers != 0)
        keep(f, all);
}

/* @return whether nothing slower need be looked at: everything is kept */
static bool try_policy(finder *f)
{
    const ridge_knobs *k = f->how->knobs;
    memory_choice c;
    f->out->covered++;
    bool is_part_legal = f->layout.remat != RIDGE_REMAT_NONE;
    const bool does_fit = measure(f, is_part_legal ? k->remat_layers : 0, &c);
    if (!is_part_legal)
        f->none_bytes = ridge_memory_total_bytes(&c.memory);
    if (!does_fit) {
        keep_nearest(f, &c);
        return false;
    }
    const bool is_asked_for =
        k->remat >= 0 && (k->remat != RIDGE_REMAT_OPERATIONS || k->remat_ops != 0);
    if (!is_part_legal || k->remat_layers > 0 || is_asked_for ||
        !ridge_chip_is_overlapped(f->tc->chip)) {
        keep(f, &c); /* a policy asked for without layers means every layer */
        return !is_part_legal;
    }
    keep_fewest(f, &c);
    return false;
}

void memory_take_smallest(const train_case *tc, const ridge_knobs *k, ridge_layout *l)
{
    l->remat_ops = 0;
    for (int i = 0; i < REMATS; i++) {
        if (is_remat_wanted(tc, k, remats[i]))
            l->remat = remats[i];
    }
    if (tc->n_named > 0) {
        l->remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
        l->remat_ops = tc->named[tc->n_named - 1];
    }
    l->remat_layers = l->remat != RIDGE_REMAT_NONE ? k->remat_layers : 0;
}

/* Whether one policy fits at all. Otherwise the smallest stands for `choices` of them.
 */
static bool can_fit(finder *f, int64_t choices)
{
    memory_choice c;
    memory_take_smallest(f->tc, f->how->knobs, &f->layout);
    if (measure(f, f->layout.remat_layers, &c))
        return true;
    keep_nearest(f, &c);
    f->out->refused += choices - 1;
    f->out->covered += choices;
    return false;
}

static bool try_policies(finder *f)
{
    for (int i = 0; i < REMATS; i++) {
        f->layout.remat = remats[i];
        if (!is_remat_wanted(f->tc, f->how->knobs, remats[i]))
            continue;
        if (try_policy(f) && !f->how->is_front_wanted)
            return true;
    }
    for (int i = 0; i < f->tc->n_named; i++) {
        f->layout.remat = (ridge_remat)RIDGE_REMAT_OPERATIONS;
        f->layout.remat_ops = f->tc->named[i];
        (void)try_policy(f);
    }
    f->layout.remat_ops = 0;
    return false;
}

/* State does not hang on what is tried here. */
static train_terms with_states(const train_case *tc, const train_terms *terms,
                               const ridge_layout *layout)
{
    train_terms x = *terms;
    for (int i = 0; i < x.stages->n; i++)
        x.stages->states[i] =
            train_stage_state(tc, x.load, &x.stages->stages[i], layout);
    x.states = x.stages->states;
    return x;
}

/* Whether everything is kept with a part of it on the host, or with nothing: what more
 * lies there only adds transfers. */
static bool is_more_than_enough(const bool *is_enough, unsigned offload)
{
    for (unsigned o = 0; o < offload; o++) {
        if (is_enough[o] && (o & ~offload) == 0)
            return true;
    }
    return false;
}

void memory_choices_find(const train_case *tc, const train_terms *terms,
                         const ridge_layout *layout, const memory_search *how,
                         memory_choices *out)
{
    const train_terms held = with_states(tc, terms, layout);
    bool is_enough[RIDGE_OFFLOAD_ALL + 1] = {false};
    finder f = {.tc = tc,
                .terms = &held,
                .how = how,
                .layout = *layout,
                .microbatches = train_microbatches(tc, layout),
                .out = out};
    out->n = 0;
    out->covered = out->refused = 0;
    out->has_nearest = out->is_host_short = false;
    const int64_t all = memory_choice_count(tc, how->knobs);
    const int64_t offloads = offload_count(tc, how->knobs);
    for (unsigned o = 0; o <= RIDGE_OFFLOAD_ALL; o++) {
        if (!is_offload_wanted(tc, how->knobs, o) || is_more_than_enough(is_enough, o))
            continue;
        f.layout.offload = o;
        f.layout.remat_ops = 0;
        is_enough[o] = can_fit(&f, all / offloads) && try_policies(&f);
    }
    if (how->is_front_wanted || out->n == 0)
        return;
    out->covered = all;
}
