/* Terms that many layouts of a task share, each worked out once. */
#include "layout_placements.h"
#include "search_desk.h"
#include "train_terms.h"

#include <math.h>
#include <string.h>

/* ---- memo of layer times --------------------------------------------------------- */

static void sum_model(const train_case *tc, memo_entry *e)
{
    e->model_s = e->least_s[tc->n_kinds];
    for (int i = 0; i < tc->model->n_runs; i++) {
        const ridge_run *run = &tc->model->runs[i];
        e->model_s += (double)run->count * e->least_s[run->layer];
    }
}

static bool fill_entry(search_desk *d, const ridge_layout *l, memo_entry *e)
{
    const int n = d->tc.n_kinds + 1;
    layer_shape shape = layer_shape_of(l);
    *e = (memo_entry){.microbatch_seqs = l->microbatch_seqs,
                      .layers = train_layer_times(&d->tc, &shape),
                      .imbalance = train_expert_imbalance(&d->tc, l)};
    e->least_s = ridge_new(ridge_ctx_arena(d->cx), double, (size_t)n);
    if (e->layers == NULL || e->least_s == NULL) {
        d->is_short = d->tc.status == RIDGE_OK;
        e->layers = NULL;
        return false;
    }
    for (int k = 0; k < n; k++)
        e->least_s[k] =
            layer_time_fwd_s(&e->layers[k]) + layer_time_bwd_s(&e->layers[k]);
    sum_model(&d->tc, e);
    return true;
}

/* Where a microbatch stands or may stand. NULL: no room. */
static memo_entry *find_slot(search_desk *d, int64_t seqs)
{
    uint64_t hash = (uint64_t)seqs * 0x9e3779b97f4a7c15u >> 32;
    for (size_t i = 0; i < MEMO_SLOTS; i++) {
        memo_entry *e = &d->memo[(hash + i) % MEMO_SLOTS];
        if (e->microbatch_seqs == seqs || e->microbatch_seqs == 0)
            return e;
    }
    d->is_short = true;
    return NULL;
}

memo_entry *search_known_times(search_desk *d, const ridge_layout *l)
{
    memo_entry *e = find_slot(d, l->microbatch_seqs);
    return e == NULL || e->layers == NULL ? NULL : e;
}

memo_entry *search_layer_times(search_desk *d, const ridge_layout *l)
{
    memo_entry *e = find_slot(d, l->microbatch_seqs);
    if (e == NULL)
        return NULL;
    if (e->microbatch_seqs == 0 && !fill_entry(d, l, e))
        return NULL;
    return e->layers == NULL ? NULL : e;
}

/* Of one placement alone. */
static const layer_exchange *own_exchanges(search_desk *d, const train_groups *g,
                                           const layer_time *layers, placed *p)
{
    if (p->of != layers)
        p->exchanges = exchange_memo_make(ridge_ctx_scratch(d->cx), &d->tc, g, layers);
    p->of = layers;
    return p->exchanges;
}

/* Shared by all that lie alike; where too many are known already, its own. */
static const layer_exchange *layer_exchanges(search_desk *d, const train_groups *g,
                                             const layer_time *layers, placed *p)
{
    const layer_exchange *shared =
        exchange_memo_find(d->exchanges, ridge_ctx_arena(d->cx), &d->tc, g, layers);
    return shared != NULL ? shared : own_exchanges(d, g, layers, p);
}

/* The group of so many ranks that lies innermost; as it is where it cannot. */
static void lay_innermost(const ridge_slice *slice, ridge_group *group)
{
    ridge_group laid[2];
    const int64_t sizes[] = {group->ranks, slice->chips / group->ranks};
    if (ridge_placement_fill(slice, NULL, sizes, 2, laid))
        *group = laid[0];
}

/* Where any order is allowed, each of tp, cp and ep may lie innermost, but not
 * together, in the usual orders ep alone is not always as far inside: no placement
 * exchanges faster than that. NULL: memory ran out. */
static const layer_exchange *least_exchanges(search_desk *d, const train_groups *g,
                                             const layer_time *layers)
{
    train_groups least = *g;
    if (d->knobs->placement != RIDGE_KNOB_FREE) {
        lay_innermost(d->tc.slice, &least.tp);
        lay_innermost(d->tc.slice, &least.cp);
    }
    lay_innermost(d->tc.slice, &least.ep);
    return exchange_memo_make(ridge_ctx_arena(d->cx), &d->tc, &least, layers);
}

static void take_least(search_desk *d, const double *least_s, memo_entry *e)
{
    for (int k = 0; k <= d->tc.n_kinds; k++)
        e->least_s[k] = least_s[k];
    sum_model(&d->tc, e);
}

/* On a torus tp and cp lie innermost in some order of its axes. Where experts lie may
 * depend on the stages too: their exchanges are left out. */
static void learn_orders(search_desk *d, const train_terms *x, const ridge_layout *l,
                         memo_entry *e)
{
    const int kinds = d->tc.n_kinds;
    ridge_arena *arena = ridge_ctx_scratch(d->cx);
    double *least_s = ridge_new(arena, double, (size_t)kinds + 1);
    layer_exchange *made = ridge_new(arena, layer_exchange, (size_t)kinds + 1);
    const int64_t sizes[] = {l->tp, l->cp, d->tc.slice->chips / (l->tp * l->cp)};
    train_terms own = *x;
    own.exchanges = made;
    if (least_s == NULL || made == NULL)
        return;
    for (int p = 0; p < train_placement_count(d->tc.slice); p += 2) {
        int order[RIDGE_AXIS_MAX];
        ridge_group laid[3];
        train_placement_order(d->tc.slice, p, order);
        if (!ridge_placement_fill(d->tc.slice, order, sizes, 3, laid))
            continue; /* nor does any layout with these degrees lie so */
        const train_groups g = {.tp = laid[0], .cp = laid[1], .ep = {.ranks = 1}};
        train_layer_exchanges(&d->tc, &g, x->layers, made);
        for (int k = 0; k <= kinds; k++) {
            const double one_s = train_layer_least_s(&d->tc, &own, l, k);
            least_s[k] = least_s[k] > 0 ? fmin(least_s[k], one_s) : one_s;
        }
    }
    take_least(d, least_s, e);
}

/* Without shards; as it runs where experts' exchanges hide behind another microbatch,
 * if any schedule that is searched does that. */
static ridge_layout least_exposed(const search_desk *d, const ridge_layout *l)
{
    ridge_layout least = *l;
    least.zero_stage = 0;
    if (d->knobs->schedule == RIDGE_KNOB_ANY ||
        d->knobs->schedule == RIDGE_SCHEDULE_DUALPIPE) /* one stage runs as 1F1B */
        least.schedule = RIDGE_SCHEDULE_DUALPIPE;
    return least;
}

void search_learn_exchanges(search_desk *d, const train_terms *x, const train_groups *g,
                            const ridge_layout *layout, memo_entry *e)
{
    const ridge_layout exposed = least_exposed(d, layout);
    const ridge_layout *l = &exposed;
    const bool is_torus = train_placement_count(d->tc.slice) > 2;
    train_terms least = *x;
    if (e->has_exchanges)
        return;
    e->has_exchanges = true;
    if (is_torus && d->knobs->placement == RIDGE_KNOB_FREE)
        learn_orders(d, x, l, e);
    if (is_torus)
        return;
    if (d->knobs->placement != RIDGE_KNOB_FREE || g->ep.ranks > 1)
        least.exchanges = least_exchanges(d, g, x->layers);
    if (least.exchanges == NULL)
        return;
    for (int k = 0; k <= d->tc.n_kinds; k++)
        e->least_s[k] = train_layer_least_s(&d->tc, &least, l, k);
    sum_model(&d->tc, e);
}

/* ---- placements ------------------------------------------------------------------ */

bool search_find_places(search_desk *d, const ridge_layout *l, mesh_places *out)
{
    ridge_arena *arena = ridge_ctx_scratch(d->cx);
    const int n = layout_placements_list(d->tc.slice, l, d->knobs->placement,
                                         d->is_quick ? 1 : d->places_most,
                                         d->place_index, d->place_groups);
    int *index = ridge_new(arena, int, (size_t)n + 1);
    train_groups *groups = ridge_new(arena, train_groups, (size_t)n + 1);
    out->placed = ridge_arena_new(arena, (size_t)n + 1, sizeof *out->placed);
    if (index == NULL || groups == NULL || out->placed == NULL)
        return false;
    for (int i = 0; i < n; i++) {
        index[i] = d->place_index[i];
        groups[i] = d->place_groups[i];
    }
    out->n = n;
    out->index = index;
    out->groups = groups;
    return true;
}

static const shard_time *find_shards(search_desk *d, const train_groups *g, placed *p)
{
    if (p->shards == NULL) {
        shard_time *made =
            ridge_new(ridge_ctx_scratch(d->cx), shard_time, (size_t)d->tc.n_kinds);
        if (made != NULL)
            train_shard_times(&d->tc, g, &d->load, made);
        p->shards = made;
    }
    return p->shards;
}

const step_sync **search_syncs_at(search_desk *d, const candidate *c,
                                  const ridge_layout *l, placed *p)
{
    const size_t n = (size_t)c->n_pipelines * ZERO_STAGES;
    if (p->syncs == NULL)
        p->syncs = ridge_arena_new(ridge_ctx_scratch(d->cx), n, sizeof *p->syncs);
    return p->syncs == NULL ? NULL
                            : &p->syncs[c->pipeline * ZERO_STAGES + l->zero_stage];
}

const step_sync *search_place_syncs(search_desk *d, const candidate *c, int i,
                                    const ridge_layout *l)
{
    const step_sync **at = search_syncs_at(d, c, l, &c->places->placed[i]);
    if (at == NULL || *at != NULL)
        return at == NULL ? NULL : *at;
    step_sync *made =
        ridge_new(ridge_ctx_scratch(d->cx), step_sync, (size_t)c->stages->n);
    if (made != NULL)
        train_step_syncs(&d->tc, &c->places->groups[i], &d->load, c->stages, l, made);
    *at = made;
    return made;
}

bool search_place_layers(search_desk *d, const candidate *c, int i,
                         const ridge_layout *l, train_terms *x)
{
    const train_groups *g = &c->places->groups[i];
    placed *p = &c->places->placed[i];
    if (p->send_seqs != l->microbatch_seqs) {
        p->send = train_send_time(&d->tc, g, l);
        p->send_seqs = l->microbatch_seqs;
    }
    x->send = p->send;
    x->exchanges = layer_exchanges(d, g, x->layers, p);
    x->shards = find_shards(d, g, p);
    x->is_tp_apart = !train_groups_share(&g->tp, &g->shards);
    return x->exchanges != NULL && x->shards != NULL;
}

bool search_place_terms(search_desk *d, const candidate *c, int i,
                        const ridge_layout *l, train_terms *x)
{
    if (!search_place_layers(d, c, i, l, x))
        return false;
    x->syncs = search_place_syncs(d, c, i, l);
    return x->syncs != NULL;
}

/* ---- books ----------------------------------------------------------------------- */

static void *copy(ridge_arena *arena, const void *from, size_t n, size_t size)
{
    void *to = ridge_arena_new(arena, n, size);
    return to == NULL ? NULL : memcpy(to, from, n * size);
}

/* Layer times with the lists of operations that they point at. */
static layer_time *copy_layers(const search_desk *d, const layer_time *from)
{
    ridge_arena *arena = ridge_ctx_arena(d->keeper);
    layer_time *to = copy(arena, from, (size_t)d->tc.n_kinds + 1, sizeof *to);
    for (int k = 0; to != NULL && k < d->tc.n_kinds; k++) {
        if (to[k].named == NULL)
            continue;
        to[k].named =
            copy(arena, to[k].named, (size_t)d->tc.n_named, sizeof *to[k].named);
        if (to[k].named == NULL)
            return NULL;
    }
    return to;
}

bool search_write_book(search_desk *d, layer_book *book)
{
    ridge_arena *arena = ridge_ctx_arena(d->keeper);
    const size_t n = (size_t)d->tc.n_kinds + 1;
    book->n = 0;
    for (int i = 0; i < MEMO_SLOTS; i++)
        book->n += d->memo[i].layers != NULL;
    book->entries = ridge_new(arena, memo_entry, (size_t)book->n + 1);
    book->n_named = d->tc.n_named;
    book->named = copy(arena, d->tc.named, NAMED_MOST, sizeof *book->named);
    book->has_named = book->named != NULL;
    for (int i = 0, at = 0; book->entries != NULL && i < MEMO_SLOTS; i++) {
        if (d->memo[i].layers == NULL)
            continue;
        memo_entry *e = &book->entries[at++];
        *e = d->memo[i];
        e->layers = copy_layers(d, e->layers);
        e->least_s = copy(arena, e->least_s, n, sizeof *e->least_s);
        if (e->layers == NULL || e->least_s == NULL)
            return false;
    }
    return book->entries != NULL;
}

void search_read_book(search_desk *d, const layer_book *book)
{
    for (int i = 0; i < book->n; i++)
        *find_slot(d, book->entries[i].microbatch_seqs) = book->entries[i];
}
