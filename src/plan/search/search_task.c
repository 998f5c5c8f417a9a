/*
 * Layouts with one tp, cp, ep and SP: every number of stages and shards, ZeRO stage,
 * microbatch, pipeline, remat policy and placement. Work is saved without losing the
 * optimum:
 *  - each term is computed once for all layouts that share its key (train_terms.h);
 *  - a layout whose compute alone takes longer than the worst of the best so far is not
 *    priced further (communication only adds time): first with its work spread evenly
 *    over the stages, for all pipelines at once, then for each, then with what its
 *    layers exchange wherever it lies, before memory is looked at;
 *  - of a remat policy as few layers as fit: those beyond do more work, which hides no
 *    more than itself. If all can be kept, no policy is faster.
 */
#include "divisors.h"
#include "search_bound.h"
#include "search_price.h"
#include "search_room.h"
#include "search_target.h"

#include "layer_program.h"
#include "pipeline_choice.h"
#include "search_memory.h"
#include "search_notes.h"
#include "step_program.h"
#include "usual_choice.h"

#include <math.h>
#include <string.h>

static bool is_free_or(int64_t knob, int64_t value)
{
    return knob <= 0 || knob == value;
}

static void refuse(search_desk *d, ridge_fit fit)
{
    d->answer->tally.refused[fit]++;
    d->answer->tally.covered++;
}

/* ---- pricing --------------------------------------------------------------------- */

/* Few ways to fit are found sooner than what the network takes, and what they compute
 * again tells most layouts slow: but not of a front, which has slow ones too. */
static bool has_many_choices(const search_desk *d)
{
    return d->answer->front.most > 0 || d->memory_choices > RIDGE_REMAT_COUNT;
}

/* A mesh and its microbatches, which are those of all meshes with as many replicas and
 * shards together. */
typedef struct mesh_work {
    const pipelines *all;
    divisors microbatches;
    search_notes notes;
    zero_range zeros;
    train_ways ways[ZERO_STAGES];
    int at; /* the present microbatch */
    mesh_room room;
    mesh_places *places; /* [2]: without and with shards */
} mesh_work;

static double noted_room_s(const mesh_work *w, const pipeline_note *note,
                           int zero_stage)
{
    return search_noted_room_s(note, &w->ways[zero_stage], zero_stage);
}

static void note_room(const mesh_work *w, pipeline_note *note, int zero_stage,
                      double least_s)
{
    search_note_room(note, &w->ways[zero_stage], zero_stage, least_s);
}

static void price_layout(search_desk *d, const mesh_work *w, const candidate *c,
                         pipeline_note *note, ridge_layout *l)
{
    memory_choices choices;
    double least_s = (double)INFINITY;
    train_terms terms = {.stages = c->stages,
                         .load = &d->load,
                         .layers = c->times->layers,
                         .imbalance = c->times->imbalance};
    const memory_search how = {d->knobs, d->answer->front.most > 0,
                               d->tc.request->target != NULL, !search_is_any_known(d)};
    if (has_many_choices(d) && c->places->n > 0 &&
        search_is_placed_slow(d, c, &terms, l, c->least_bytes)) {
        d->answer->tally.covered += d->memory_choices;
        return;
    }
    memory_choices_find(&d->tc, &terms, l, &how, &choices);
    d->answer->tally.covered += choices.covered;
    d->answer->tally.refused[RIDGE_FIT_OVER_HBM] += choices.refused;
    if (choices.has_nearest)
        layout_ranking_nearest(&d->answer->tally, &choices.nearest);
    for (int i = 0; i < choices.n && !d->is_short; i++)
        least_s =
            fmin(least_s, search_price_memory(d, c, &terms, &choices.choices[i], l));
    if (!choices.is_host_short)
        note_room(w, note, l->zero_stage, least_s);
}

/* ---- the loops ------------------------------------------------------------------- */

static bool microbatches_of(search_desk *d, const ridge_layout *l, divisors *out)
{
    int64_t seqs = ridge_ceil_div(d->tc.batch_seqs, l->dp * l->fsdp);
    if (d->knobs->microbatch_seqs > 0) { /* a fixed one may leave a remainder */
        out->values = ridge_new(ridge_ctx_scratch(d->cx), int64_t, 1);
        out->n = 1;
        if (out->values != NULL)
            out->values[0] = d->knobs->microbatch_seqs;
        return out->values != NULL;
    }
    return divisors_of(ridge_ctx_scratch(d->cx), seqs, out);
}

/* Frameworks interleave over groups of as many microbatches as there are stages; others
 * are priced where vpp is asked for. */
static bool is_group_whole(const search_desk *d, const ridge_layout *l,
                           int64_t microbatches)
{
    return l->vpp == 1 || d->knobs->vpp > 0 || microbatches % l->pp == 0;
}

static void refuse_for_memory(search_desk *d, int64_t variants)
{
    d->answer->tally.covered += variants;
    d->answer->tally.refused[RIDGE_FIT_OVER_HBM] += variants;
}

/* With nothing computed again, nor on the host. */
static void start_pipeline(const pipeline_choice *choice, ridge_layout *l)
{
    pipeline_choice_take(choice, l);
    l->remat = RIDGE_REMAT_NONE;
    l->remat_ops = 0;
    l->remat_layers = 0;
    l->offload = RIDGE_OFFLOAD_NONE;
}

static bool has_room(search_desk *d, const mesh_work *w, int pipeline,
                     const ridge_layout *l)
{
    pipeline_note *note = search_note_of(&w->notes, w->at, pipeline);
    if (search_is_any_known(d) && isinf(noted_room_s(w, note, l->zero_stage)))
        return false;
    if (w->at < search_room_of(d, &w->room, pipeline, l))
        return true;
    note_room(w, note, l->zero_stage, (double)INFINITY);
    return false;
}

/* Of a front a layout that is no faster than one that is as small as it can be. */
static bool is_front_beaten(search_desk *d, const mesh_work *w, candidate *c,
                            const ridge_layout *l, double least_s)
{
    c->least_bytes = 0;
    if (d->answer->front.most == 0)
        return false;
    c->least_bytes = search_floor_bytes(d, w->all, c->pipeline, l);
    return search_is_beaten(d, l, least_s, c->least_bytes);
}

/* Of the present microbatch. @return false: it is slow in whatever mesh */
static bool search_pipeline(search_desk *d, const mesh_work *w, candidate *c,
                            ridge_layout *l)
{
    const int64_t choices = d->memory_choices;
    pipeline_note *note = search_note_of(&w->notes, w->at, c->pipeline);
    const double least_s = search_noted_least_s(d, c, l, note);
    if (search_is_beaten(d, l, least_s, 0))
        return false;
    const double noted_s =
        search_is_any_known(d) ? noted_room_s(w, note, l->zero_stage) : 0;
    if (isfinite(noted_s) && search_is_beaten(d, l, noted_s, 0)) {
        d->answer->tally.covered += choices;
    } else if (!has_room(d, w, c->pipeline, l)) {
        refuse_for_memory(d, choices);
    } else if (is_front_beaten(d, w, c, l, fmax(least_s, noted_s))) {
        d->answer->tally.covered += choices;
    } else if (c->places->n < 0 && !search_find_places(d, l, c->places)) {
        d->is_short = true;
    } else if (search_is_pipeline_slow(d, c, l) || !search_is_any_taken(d, c, l)) {
        d->answer->tally.covered += choices;
    } else {
        price_layout(d, w, c, note, l);
    }
    return true;
}

/* @return whether it may be among the best in another mesh */
static bool try_pipeline(search_desk *d, const mesh_work *w, candidate *c,
                         microbatch_note *note, ridge_layout *l)
{
    start_pipeline(&w->all->choices.choices[c->pipeline], l);
    l->has_pp_overlap = train_usual_sends(d->tc.request, l->vpp);
    if (!pipeline_is_legal(l, d->tc.model->layer_count, c->microbatches) ||
        !is_group_whole(d, l, c->microbatches)) {
        note->illegal++;
        return false;
    }
    c->stages = search_stages_of(d, w->all, c->pipeline, l);
    d->is_short = d->is_short || c->stages == NULL;
    if (d->is_short || search_pipeline(d, w, c, l))
        return true;
    note->slow++;
    return false;
}

/* Those that are left; the others are counted. */
static void search_pipelines(search_desk *d, const mesh_work *w, candidate *c,
                             ridge_layout *l)
{
    microbatch_note *note = &w->notes.microbatches[w->at];
    const int n = note->n;
    c->n_pipelines = w->all->choices.n;
    note->n = 0;
    for (int i = 0; i < n; i++) {
        c->pipeline = note->pipelines[i];
        if (d->is_short || try_pipeline(d, w, c, note, l))
            note->pipelines[note->n++] = c->pipeline;
    }
    d->answer->tally.covered += note->illegal + note->slow * d->memory_choices;
    d->answer->tally.refused[RIDGE_FIT_SCHEDULE] += note->illegal;
}

static zero_range zeros_of(const search_desk *d, const ridge_layout *l)
{
    zero_range z = {l->fsdp > 1 ? 1 : 0, l->fsdp > 1 || l->cp > 1 ? 3 : 0};
    int wanted = d->knobs->zero_stage;
    if (wanted != RIDGE_ZERO_FREE)
        z = (zero_range){wanted < z.first ? z.last + 1 : wanted,
                         wanted > z.last ? z.first - 1 : wanted};
    return z;
}

/* Whether any pipeline and ZeRO stage may have room for the microbatch. */
static bool is_any_roomy(search_desk *d, const mesh_work *w, const ridge_layout *l)
{
    ridge_layout tried = *l;
    bool is_roomy = false;
    for (int zero = w->zeros.last; zero >= w->zeros.first && !is_roomy; zero--) {
        tried.zero_stage = zero;
        for (int i = 0; i < w->all->choices.n && !is_roomy; i++)
            is_roomy = has_room(d, w, i, &tried);
    }
    return is_roomy;
}

static bool is_too_large(search_desk *d, const mesh_work *w, const ridge_layout *l)
{
    const bool has_any = d->answer->tally.has_nearest || search_is_any_known(d);
    return (has_any && search_is_too_wide(d, l)) || !is_any_roomy(d, w, l);
}

/* Memory is looked at before layers are priced that no mesh of the task needed yet. */
static void search_microbatch(search_desk *d, const mesh_work *w, ridge_layout *l)
{
    const int64_t variants = (w->zeros.last - w->zeros.first + 1) *
                             (int64_t)w->all->choices.n * d->memory_choices;
    microbatch_note *note = &w->notes.microbatches[w->at];
    if (note->is_slow) {
        d->answer->tally.covered += variants;
        return;
    }
    if (search_known_times(d, l) == NULL && is_too_large(d, w, l)) {
        refuse_for_memory(d, variants);
        return;
    }
    candidate c = {.times = search_layer_times(d, l),
                   .microbatches = train_microbatches(&d->tc, l)};
    if (c.times == NULL)
        return;
    note->is_slow = search_is_mesh_slow(d, c.times, l);
    if (note->is_slow) {
        d->answer->tally.covered += variants;
        return;
    }
    for (int zero = w->zeros.last; zero >= w->zeros.first && !d->is_short; zero--) {
        l->zero_stage = zero;
        c.places = &w->places[zero > 0];
        c.sharded_s[0] = c.sharded_s[1] = NULL;
        search_pipelines(d, w, &c, l);
        if (d->is_quick)
            break;
    }
}

static void search_microbatches(search_desk *d, mesh_work *w, ridge_layout *l)
{
    mesh_places places[2] = {0}; /* found where needed */
    w->places = places;
    places[0].n = places[1].n = -1;
    if (!search_open_room(d, w->all, &w->microbatches, &w->room)) {
        d->is_short = true;
        return;
    }
    for (int zero = 0; zero < ZERO_STAGES; zero++) {
        l->zero_stage = zero;
        w->ways[zero] = train_layout_ways(l);
    }
    for (w->at = 0; w->at < w->microbatches.n && !d->is_short; w->at++) {
        l->microbatch_seqs = w->microbatches.values[w->at];
        search_microbatch(d, w, l);
    }
}

static void search_data(search_desk *d, mesh_work *w, ridge_layout *l)
{
    l->microbatch_seqs = d->knobs->microbatch_seqs > 0 ? d->knobs->microbatch_seqs : 1;
    l->zero_stage = l->fsdp > 1 ? 1 : 0;
    pipeline_choice_take(&w->all->choices.choices[0], l);
    ridge_fit fit = train_layout_check(&d->tc, l);
    if (fit != RIDGE_FIT_OK && fit != RIDGE_FIT_SCHEDULE) {
        refuse(d, fit);
        return;
    }
    w->zeros = zeros_of(d, l);
    if (w->zeros.first > w->zeros.last) {
        refuse(d, RIDGE_FIT_SHARDS);
        return;
    }
    ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(d->cx));
    search_microbatches(d, w, l);
    ridge_arena_rewind(ridge_ctx_scratch(d->cx), mark);
}

/* Every way to divide so many ranks into replicas and shards, most shards first. */
static void search_shards(search_desk *d, const pipelines *pipes, ridge_layout *l,
                          int64_t data, const divisors *all)
{
    mesh_work w = {.all = pipes};
    l->fsdp = data;
    l->dp = 1;
    if (!microbatches_of(d, l, &w.microbatches) ||
        !search_notes_open(d, w.microbatches.n, pipes->choices.n, &w.notes)) {
        d->is_short = true;
        return;
    }
    for (int i = all->n - 1; i >= 0 && !d->is_short; i--) {
        l->fsdp = all->values[i];
        if (data % l->fsdp != 0 || !is_free_or(d->knobs->fsdp, l->fsdp))
            continue;
        l->dp = data / l->fsdp;
        if (is_free_or(d->knobs->dp, l->dp))
            search_data(d, &w, l);
    }
}

static void search_stages(search_desk *d, ridge_layout *l, int64_t ranks,
                          const divisors *all)
{
    for (int i = 0; i < all->n && !d->is_short; i++) {
        pipelines pipes;
        l->pp = all->values[i];
        if (ranks % l->pp != 0 || !is_free_or(d->knobs->pp, l->pp))
            continue;
        if (l->pp > d->tc.model->layer_count) {
            refuse(d, RIDGE_FIT_LAYERS);
            continue;
        }
        if (!search_find_pipelines(d, l->pp, &pipes)) {
            d->is_short = true;
            return;
        }
        if (pipes.choices.n == 0) {
            refuse(d, RIDGE_FIT_LAYERS);
            continue;
        }
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(d->cx));
        search_shards(d, &pipes, l, ranks / l->pp, all);
        ridge_arena_rewind(ridge_ctx_scratch(d->cx), mark);
    }
}

/* ---- desks ----------------------------------------------------------------------- */

ridge_status search_desk_open(ridge_ctx *cx, ridge_ctx *keeper,
                              const ridge_train_request *request, search_desk **out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    search_desk *d = ridge_new(arena, search_desk, 1);
    if (d == NULL)
        return ridge_fail_nomem(cx);
    d->cx = cx;
    d->keeper = keeper;
    RIDGE_TRY(train_case_open(cx, request, &d->tc));
    RIDGE_TRY(train_programs_open(&d->tc));
    d->knobs = &request->knobs;
    d->memo = ridge_new(arena, memo_entry, MEMO_SLOTS);
    d->exchanges = exchange_memo_open(arena);
    d->places_most = d->knobs->placement == RIDGE_KNOB_ANY ? RIDGE_PLACEMENT_MOST
                                                           : PLACEMENT_USUAL_MOST;
    d->place_index = ridge_new(arena, int, (size_t)d->places_most);
    d->place_groups = ridge_new(arena, train_groups, (size_t)d->places_most);
    if (d->memo == NULL || d->exchanges == NULL || d->place_index == NULL ||
        d->place_groups == NULL)
        return ridge_fail_nomem(cx);
    d->mark = ridge_arena_mark(arena);
    *out = d;
    return RIDGE_OK;
}

/* Forget the last task. @return false when memory ran out */
static bool clear(search_desk *d)
{
    ridge_arena_rewind(ridge_ctx_arena(d->cx), d->mark);
    memset(d->memo, 0, MEMO_SLOTS * sizeof *d->memo);
    exchange_memo_forget(d->exchanges);
    d->is_short = false;
    return train_case_forget(&d->tc);
}

static void start_layout(const search_desk *d, const search_task *task, ridge_layout *l)
{
    *l = (ridge_layout){.tp = task->tp,
                        .cp = task->cp,
                        .ep = task->ep,
                        .has_sp = task->has_sp,
                        .cp_exchange = task->cp_exchange,
                        .ep_dispatch = train_usual_dispatch(d->tc.request),
                        .vpp = 1,
                        .mtp = d->knobs->mtp,
                        .precision = d->knobs->precision,
                        .optimizer = d->knobs->optimizer,
                        .lora = d->knobs->lora};
    train_usual_overlaps(d->tc.request, d->tc.slice, l);
}

/* Which operations are worth naming hangs on the cut. @return false out of memory */
static bool find_named(search_desk *d, const search_task *task, const layer_book *book)
{
    const layer_shape shape = {task->tp, 1, task->ep, 1, task->has_sp, false};
    if (d->knobs->remat != RIDGE_REMAT_OPERATIONS || d->knobs->remat_ops != 0)
        return true;
    if (book->has_named) {
        d->tc.n_named = book->n_named;
        memcpy(d->tc.named, book->named, (size_t)book->n_named * sizeof *book->named);
        return true;
    }
    d->tc.n_named = 0;
    d->tc.status = train_program_ladder(&d->tc, &shape);
    return d->tc.status != RIDGE_E_NOMEM;
}

void search_desk_run(search_desk *d, const search_task *task, layer_book *book,
                     const search_known *known, bool is_quick, search_answer *out)
{
    divisors chips;
    ridge_layout l;
    d->answer = out;
    d->bound_s = known->bound_s;
    d->known = known->ranking;
    d->known_front = known->front;
    d->is_any_known = isfinite(known->bound_s) || known->ranking->n > 0;
    d->is_quick = is_quick;
    if (!clear(d) || !find_named(d, task, book) ||
        !divisors_of(ridge_ctx_arena(d->cx), d->tc.slice->chips, &chips) ||
        !train_load_build(&d->tc, task->tp, task->ep, task->has_sp, &d->load)) {
        out->status = ridge_fail_nomem(d->cx);
        return;
    }
    d->memory_choices = memory_choice_count(&d->tc, d->knobs);
    start_layout(d, task, &l);
    search_read_book(d, book);
    search_stages(d, &l, d->tc.slice->chips / task->tp / task->cp, &chips);
    if (is_quick && !search_write_book(d, book))
        d->is_short = true;
    out->status = d->is_short ? ridge_fail_nomem(d->cx) : train_case_status(&d->tc);
}
