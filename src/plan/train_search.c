/*
 * The search for training layouts: every factorisation of the chips over tp, cp, pp,
 * fsdp and dp (and of the experts over ep), every ZeRO stage, microbatch, remat policy
 * and placement. Work is saved without losing the optimum:
 *  - each term is computed once for all layouts that share its key (train_terms.h);
 *  - a layout whose compute alone takes longer than the worst of the best so far is not
 *    priced further (communication only adds time); a first pass over one ZeRO stage
 * and placement of each mesh finds good ones early;
 *  - of the remat policies the first that fits, from the least recomputation on, is the
 *    fastest: what it adds to a pass hides no more than itself.
 * SP is tried both ways: it saves memory and vector time, but one all-reduce can be
 * faster than its gather and scatter (one start less; a switch that reduces).
 */
#include "divisors.h"
#include "layout_placements.h"
#include "layout_ranking.h"
#include "stack_time.h"
#include "step_program.h"
#include "train_terms.h"

#include <math.h>
#include <string.h>

enum { CP_CHUNK_LEAST_TOKENS = 1024, MEMO_SLOTS = 32768, REMATS = RIDGE_REMAT_COUNT };

/* Remat policies from the least work done again to the most. */
static const ridge_remat remats[REMATS] = {RIDGE_REMAT_NONE, RIDGE_REMAT_SELECTIVE,
                                           RIDGE_REMAT_MATMULS, RIDGE_REMAT_FULL};

typedef struct memo_entry {
    layer_shape shape;
    const layer_time *layers;
} memo_entry;

/* Exchanges of a shape's layers over tp, cp and ep, which lie innermost: they depend on
 * the order of the network's axes, but not on what lies outside. */
typedef struct exchange_entry {
    const layer_time *layers;
    int order;
    layer_exchange *exchanges; /* [kinds + 1] */
} exchange_entry;

typedef struct search {
    train_case *tc;
    const ridge_knobs *knobs;
    ridge_train_result *result;
    layout_ranking ranking;
    memo_entry *memo;          /* open addressing over shapes */
    train_load load;           /* of the current tp and ep */
    exchange_entry *exchanges; /* open addressing over shapes and orders */
    shard_time *shards;        /* [kinds] */
    step_sync *syncs;          /* [pp] at most */
    bool is_first_pass;        /* one ZeRO stage and one placement of each mesh */
    double bound_s;            /* slower layouts are not among the best */
    bool is_short;             /* memory ran out */
} search;

static bool is_free_or(int64_t knob, int64_t value)
{
    return knob <= 0 || knob == value;
}

/* ---- memo of layer times --------------------------------------------------------- */

static bool is_same_shape(const layer_shape *a, const layer_shape *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->ep == b->ep &&
           a->microbatch_seqs == b->microbatch_seqs && a->has_sp == b->has_sp;
}

static const layer_time *layer_times(search *s, const ridge_layout *l)
{
    layer_shape shape = {l->tp, l->cp, l->ep, l->microbatch_seqs, l->has_sp};
    uint64_t hash = (uint64_t)l->tp;
    hash = hash * 1000003u + (uint64_t)l->cp;
    hash = hash * 1000003u + (uint64_t)l->ep;
    hash = hash * 1000003u + (uint64_t)l->microbatch_seqs;
    hash ^= hash >> 17;
    for (size_t i = 0; i < MEMO_SLOTS; i++) {
        memo_entry *e = &s->memo[(hash + i) % MEMO_SLOTS];
        if (e->layers == NULL)
            *e = (memo_entry){shape, train_layer_times(s->tc, &shape)};
        if (is_same_shape(&e->shape, &shape))
            return e->layers;
    }
    return train_layer_times(s->tc, &shape);
}

/* NULL when memory ran out. */
static const layer_exchange *layer_exchanges(search *s, const train_groups *g,
                                             const layer_time *layers, int placement)
{
    int order = placement / 2; /* see network_time.h */
    size_t hash = ((size_t)(uintptr_t)layers >> 4) * 31 + (size_t)order;
    for (size_t i = 0; i < MEMO_SLOTS; i++) {
        exchange_entry *e = &s->exchanges[(hash + i) % MEMO_SLOTS];
        if (e->layers == layers && e->order == order)
            return e->exchanges;
        if (e->layers != NULL)
            continue;
        layer_exchange *made = ridge_new(ridge_ctx_arena(s->tc->cx), layer_exchange,
                                         (size_t)s->tc->n_kinds + 1);
        if (made == NULL)
            return NULL;
        train_layer_exchanges(s->tc, g, layers, made);
        *e = (exchange_entry){layers, order, made};
        return made;
    }
    return NULL;
}

/* Step time of compute alone: no placement of this layout is faster. */
static double compute_bound_s(const search *s, const train_stages *stages,
                              const layer_time *layers, const ridge_layout *l)
{
    if (!ridge_chip_is_overlapped(s->tc->chip))
        return 0; /* priced by what runs, not by these terms */
    double microbatches = (double)train_microbatches(s->tc, l);
    double sum_s = 0;
    double most_s = 0;
    for (int i = 0; i < stages->n; i++) {
        const train_stage *stage = &stages->stages[i];
        double t = 0;
        for (int k = 0; k < s->tc->n_kinds; k++) {
            t += stage->layers[k] *
                 (layer_time_fwd_s(&layers[k]) + layer_time_bwd_s(&layers[k]) +
                  layer_time_recompute_s(&layers[k], l->remat));
        }
        const layer_time *head = &layers[s->tc->n_kinds];
        if (stage->has_head)
            t += layer_time_fwd_s(head) + layer_time_bwd_s(head);
        sum_s += stage->count * t;
        most_s = fmax(most_s, t);
    }
    return microbatches * most_s + (sum_s - most_s) / (double)l->vpp;
}

static bool is_slow(const search *s, const train_stages *stages,
                    const layer_time *layers, const ridge_layout *l)
{
    return compute_bound_s(s, stages, layers, l) >
           fmin(s->bound_s, layout_ranking_worst_s(&s->ranking));
}

/* ---- pricing --------------------------------------------------------------------- */

/* Whether the fullest stage fits with the layout's remat; if not, say so. */
static bool is_remat_fit(search *s, const train_terms *terms, const ridge_layout *l,
                         ridge_memory_parts *memory, int *fullest)
{
    int64_t m = train_microbatches(s->tc, l);
    s->result->covered++;
    *memory = train_peak_memory(s->tc, terms, l, m, fullest);
    double bytes = ridge_memory_total_bytes(memory);
    if (bytes <= s->tc->chip->hbm_bytes)
        return true;
    s->result->refused[RIDGE_FIT_OVER_HBM]++;
    if (s->ranking.n == 0) {
        ridge_train_price over = {.layout = *l,
                                  .fit = RIDGE_FIT_OVER_HBM,
                                  .memory = *memory,
                                  .fullest_stage = *fullest,
                                  .peak_memory_bytes = bytes,
                                  .microbatches = m};
        layout_ranking_nearest(s->result, &over);
    }
    return false;
}

/* Every placement of a layout that fits. */
static void price_placements(search *s, train_terms *terms,
                             const layout_placements *places, ridge_layout *l,
                             ridge_train_price *price)
{
    s->result->covered += places->n - 1; /* the first was counted with its remat */
    for (int i = 0; i < places->n; i++) {
        const train_groups *g = &places->groups[i];
        l->placement = places->index[i];
        terms->exchanges = layer_exchanges(s, g, terms->layers, l->placement);
        if (terms->exchanges == NULL) {
            s->is_short = true;
            return;
        }
        train_shard_times(s->tc, g, &s->load, s->shards);
        train_step_syncs(s->tc, g, &s->load, terms->stages, l, s->syncs);
        terms->send = train_send_time(s->tc, g, l);
        terms->is_tp_apart = !train_groups_share(&g->tp, &g->shards);
        price->layout = *l;
        train_price_time(s->tc, terms, l, price);
        s->result->priced++;
        layout_ranking_insert(&s->ranking, price);
    }
}

/* The first remat policy that fits, from the least work on: those beyond it do more
 * work. @return false: none fits */
static bool choose_remat(search *s, const train_terms *terms, ridge_layout *l,
                         ridge_train_price *price)
{
    for (int i = 0; i < REMATS; i++) {
        l->remat = remats[i];
        if (s->knobs->remat >= 0 ? s->knobs->remat != (int)l->remat
                                 : !stack_has_ordered_remat(s->tc->stack, l->remat))
            continue;
        if (!is_remat_fit(s, terms, l, &price->memory, &price->fullest_stage))
            continue;
        price->peak_memory_bytes = ridge_memory_total_bytes(&price->memory);
        if (s->knobs->remat < 0)
            s->result->covered += REMATS - i - 1;
        return true;
    }
    return false;
}

/* One mesh, ZeRO stage and microbatch.
 * @param places  n < 0: not yet found */
static void price_layout(search *s, const train_stages *stages,
                         layout_placements *places, ridge_layout *l)
{
    train_terms terms = {
        .stages = stages, .load = &s->load, .shards = s->shards, .syncs = s->syncs};
    ridge_train_price price = {.microbatches = train_microbatches(s->tc, l)};
    if (!choose_remat(s, &terms, l, &price))
        return;
    terms.layers = layer_times(s, l);
    if (terms.layers == NULL) {
        s->is_short = true;
        return;
    }
    if (is_slow(s, stages, terms.layers, l))
        return;
    if (places->n < 0)
        layout_placements_find(s->tc->slice, l,
                               s->is_first_pass ? 1 : LAYOUT_PLACEMENT_MOST, places);
    if (places->n == 0) {
        s->result->refused[RIDGE_FIT_PLACEMENT]++;
        return;
    }
    price_placements(s, &terms, places, l, &price);
}

static void search_zero(search *s, const train_stages *stages, ridge_layout *l,
                        const divisors *microbatches, layout_placements *places)
{
    for (int i = 0; i < microbatches->n && !s->is_short; i++) {
        l->microbatch_seqs = microbatches->values[i];
        if (is_free_or(s->knobs->microbatch_seqs, l->microbatch_seqs))
            price_layout(s, stages, places, l);
    }
}

/* ---- the loops over meshes ------------------------------------------------------- */

static bool microbatches_of(search *s, const ridge_layout *l, divisors *out)
{
    int64_t seqs = ridge_ceil_div(s->tc->batch_seqs, l->dp * l->fsdp);
    if (s->knobs->microbatch_seqs > 0) { /* a fixed one may leave a remainder */
        out->values = ridge_new(ridge_ctx_scratch(s->tc->cx), int64_t, 1);
        out->n = 1;
        if (out->values != NULL)
            out->values[0] = s->knobs->microbatch_seqs;
        return out->values != NULL;
    }
    return divisors_of(ridge_ctx_scratch(s->tc->cx), seqs, out);
}

static void search_data(search *s, const train_stages *stages, ridge_layout *l)
{
    l->microbatch_seqs = 1;
    l->zero_stage = l->fsdp > 1 ? 1 : 0;
    if (s->knobs->microbatch_seqs > 0)
        l->microbatch_seqs = s->knobs->microbatch_seqs;
    ridge_fit fit = train_layout_check(s->tc, l);
    if (fit != RIDGE_FIT_OK) {
        s->result->refused[fit]++;
        s->result->covered++;
        return;
    }
    ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(s->tc->cx));
    divisors microbatches;
    if (!microbatches_of(s, l, &microbatches)) {
        s->is_short = true;
        return;
    }
    layout_placements places[2]; /* without and with shards; found where needed */
    places[0].n = places[1].n = -1;
    int first = l->fsdp > 1 ? 1 : 0;
    int last = l->fsdp > 1 || l->cp > 1 ? 3 : 0;
    if (s->knobs->zero_stage > last ||
        (s->knobs->zero_stage >= 0 && s->knobs->zero_stage < first)) {
        s->result->refused[RIDGE_FIT_SHARDS]++;
        s->result->covered++;
    }
    for (int zero = last; zero >= first; zero--) {
        l->zero_stage = zero;
        bool is_wanted = s->knobs->zero_stage < 0 || s->knobs->zero_stage == zero;
        if (is_wanted && !s->is_short && train_layout_check(s->tc, l) == RIDGE_FIT_OK) {
            search_zero(s, stages, l, &microbatches, &places[zero > 0]);
            if (s->is_first_pass)
                break;
        }
    }
    ridge_arena_rewind(ridge_ctx_scratch(s->tc->cx), mark);
}

static void search_stages(search *s, ridge_layout *l, int64_t ranks,
                          const divisors *all)
{
    for (int i = 0; i < all->n && !s->is_short; i++) {
        l->pp = all->values[i];
        if (ranks % l->pp != 0 || !is_free_or(s->knobs->pp, l->pp))
            continue;
        l->vpp = s->knobs->vpp > 0 && l->pp > 1 ? s->knobs->vpp : 1;
        if (l->pp * l->vpp > s->tc->model->layer_count) {
            s->result->refused[RIDGE_FIT_LAYERS]++;
            continue;
        }
        const train_stages *stages = train_case_stages(s->tc, l->pp);
        if (stages == NULL) {
            s->is_short = true;
            return;
        }
        int64_t data = ranks / l->pp;
        for (int j = all->n - 1; j >= 0; j--) {
            l->fsdp = all->values[j];
            if (data % l->fsdp != 0 || !is_free_or(s->knobs->fsdp, l->fsdp))
                continue;
            l->dp = data / l->fsdp;
            if (is_free_or(s->knobs->dp, l->dp))
                search_data(s, stages, l);
        }
    }
}

/* Degrees of expert parallelism: divisors of the experts; 1 for a dense model. */
static bool expert_degrees(search *s, divisors *out)
{
    int64_t experts = 1;
    for (int k = 0; k < s->tc->n_kinds; k++) {
        if (s->tc->kinds[k].ffn.kind == RIDGE_FFN_MOE)
            experts = s->tc->kinds[k].ffn.experts;
    }
    return divisors_of(ridge_ctx_arena(s->tc->cx), experts, out);
}

static void search_experts(search *s, ridge_layout *l, const divisors *chips,
                           const divisors *experts)
{
    int64_t ranks = s->tc->slice->chips / l->tp / l->cp;
    bool is_found = false;
    for (int i = 0; i < experts->n && !s->is_short; i++) {
        l->ep = experts->values[i];
        if (!is_free_or(s->knobs->ep, l->ep))
            continue;
        is_found = true;
        if (!train_load_build(s->tc, l->tp, l->ep, l->has_sp, &s->load)) {
            s->is_short = true;
            return;
        }
        search_stages(s, l, ranks, chips);
    }
    if (!is_found) {
        s->result->refused[RIDGE_FIT_EP]++;
        s->result->covered++;
    }
}

static bool is_sp_wanted(const search *s, const ridge_layout *l)
{
    if (l->tp == 1)
        return !l->has_sp;
    if (s->knobs->has_sp != RIDGE_FLAG_FREE)
        return l->has_sp == (s->knobs->has_sp == 1);
    return !l->has_sp || (int64_t)s->tc->seq_tokens / l->cp % l->tp == 0;
}

static void search_tp(search *s, ridge_layout *l, const divisors *chips,
                      const divisors *experts)
{
    ridge_tp_verdict verdict = ridge_model_tp(s->tc->model, l->tp);
    if (verdict != RIDGE_TP_OK && verdict != RIDGE_TP_REPLICATES_KV) {
        s->result->refused[RIDGE_FIT_TP]++;
        return;
    }
    l->has_tp_overlap = l->tp > 1 && (s->knobs->has_tp_overlap == RIDGE_FLAG_FREE
                                          ? s->tc->chip->kind == RIDGE_CHIP_TPU
                                          : s->knobs->has_tp_overlap == 1);
    for (int sp = 1; sp >= 0; sp--) {
        l->has_sp = sp == 1;
        if (is_sp_wanted(s, l))
            search_experts(s, l, chips, experts);
    }
}

static bool is_cp_wanted(const search *s, int64_t cp)
{
    int64_t seq = (int64_t)s->tc->seq_tokens;
    if (s->knobs->cp > 0)
        return cp == s->knobs->cp;
    return cp == 1 || (seq % cp == 0 && seq / cp >= CP_CHUNK_LEAST_TOKENS);
}

static ridge_status search_meshes(search *s)
{
    ridge_ctx *cx = s->tc->cx;
    divisors chips;
    divisors experts;
    if (!divisors_of(ridge_ctx_arena(cx), s->tc->slice->chips, &chips) ||
        !expert_degrees(s, &experts))
        return ridge_fail_nomem(cx);
    for (int i = 0; i < chips.n; i++) {
        ridge_layout l = {
            .cp = chips.values[i], .precision = s->knobs->precision, .vpp = 1};
        if (!is_cp_wanted(s, l.cp))
            continue;
        for (int j = chips.n - 1; j >= 0; j--) {
            l.tp = chips.values[j];
            if (s->tc->slice->chips / l.cp % l.tp != 0 ||
                !is_free_or(s->knobs->tp, l.tp))
                continue;
            if (ridge_ctx_is_cancelled(cx))
                return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled during the search");
            if (s->tc->request->progress != NULL) {
                ridge_progress_show(s->tc->request->progress,
                                    (double)i / (double)chips.n, "searching layouts");
            }
            search_tp(s, &l, &chips, &experts);
        }
    }
    if (s->tc->status != RIDGE_OK) /* it has left its message */
        return s->tc->status;
    return s->is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}

/* What the first pass finds bounds the second, which prices everything within it. */
static ridge_status search_all(search *s)
{
    const ridge_train_result empty = *s->result;
    s->bound_s = (double)INFINITY;
    s->is_first_pass = true;
    RIDGE_TRY(search_meshes(s));
    s->bound_s = layout_ranking_worst_s(&s->ranking);
    s->is_first_pass = false;
    s->ranking.n = 0;
    *s->result = empty;
    return search_meshes(s);
}

ridge_status ridge_train_search(ridge_ctx *cx, const ridge_train_request *request,
                                ridge_train_result *out)
{
    double start_s = ridge_clock_s();
    train_case tc;
    RIDGE_TRY(train_case_open(cx, request, &tc));
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_train_result result = {.batch_seqs = tc.batch_seqs,
                                 .batch_tokens = (double)tc.batch_seqs * tc.seq_tokens};
    search s = {.tc = &tc, .knobs = &request->knobs, .result = &result};
    int top = request->top < 1                     ? 1
              : request->top > RIDGE_TRAIN_TOP_MAX ? RIDGE_TRAIN_TOP_MAX
                                                   : request->top;
    result.layouts = ridge_new(arena, ridge_train_price, (size_t)top);
    s.ranking = (layout_ranking){.top = top, .layouts = result.layouts};
    s.memo = ridge_new(arena, memo_entry, MEMO_SLOTS);
    s.exchanges = ridge_new(arena, exchange_entry, MEMO_SLOTS);
    s.shards = ridge_new(arena, shard_time, (size_t)tc.n_kinds);
    s.syncs = ridge_new(arena, step_sync, (size_t)tc.model->layer_count);
    if (result.layouts == NULL || s.memo == NULL || s.exchanges == NULL ||
        s.shards == NULL || s.syncs == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(search_all(&s));
    RIDGE_TRY(tc.steps->status);
    result.n_layouts = s.ranking.n;
    for (int i = 0; i < result.n_layouts; i++)
        train_price_finish(&tc, &result.layouts[i]);
    result.seconds = ridge_clock_s() - start_s;
    *out = result;
    return RIDGE_OK;
}
