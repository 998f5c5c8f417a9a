/*
 * Memory of a stage is linear in its parameters and in the tokens of a microbatch, so
 * what a mesh, a ZeRO stage and a microbatch change are a few factors. A larger
 * microbatch never takes less: its tokens times those under way, min(depth, share /
 * microbatch) of them, do not fall. So the most that fits is found by halving.
 */
#include "search_room.h"

#include "search_memory.h"

#include <math.h>

/* Sums in another order differ by less. */
static const double SLACK = 1e-9;

bool search_find_pipelines(search_desk *d, int64_t pp, pipelines *out)
{
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    if (!pipeline_choices_find(&d->tc, pp, arena, &out->choices))
        return false;
    const size_t n = out->choices.n > 0 ? (size_t)out->choices.n : 1;
    out->stages = ridge_arena_new(arena, n, sizeof *out->stages);
    out->floors = ridge_arena_new(arena, n, sizeof *out->floors);
    return out->stages != NULL && out->floors != NULL;
}

const train_stages *search_stages_of(search_desk *d, const pipelines *all, int i,
                                     const ridge_layout *l)
{
    if (all->stages[i] == NULL)
        all->stages[i] = train_case_stages(&d->tc, l);
    return all->stages[i];
}

/* ---- floors ---------------------------------------------------------------------- */

static stage_floor floor_of(const search_desk *d, const train_stage *stage,
                            const ridge_layout *l)
{
    ridge_layout smallest = *l;
    memory_take_smallest(&d->tc, d->knobs, &smallest);
    smallest.zero_stage = 3;
    const train_params p = train_stage_params(&d->tc, &d->load, stage, l);
    const train_token_bytes token =
        train_stage_token(&d->tc, &d->load, stage, &smallest);
    const bool can_leave = d->knobs->offload != RIDGE_KNOB_FREE;
    return (stage_floor){
        .dense = p.dense,
        .expert = p.expert,
        .gathered_bytes =
            train_stage_state(&d->tc, &d->load, stage, &smallest).gathered_bytes,
        .kept = can_leave ? 0 : token.kept,
        .working = token.working};
}

/* @return NULL when memory ran out */
static const stage_floor *floors_of(search_desk *d, const pipelines *all, int i,
                                    const ridge_layout *l)
{
    const train_stages *stages = search_stages_of(d, all, i, l);
    if (stages == NULL || all->floors[i] != NULL)
        return stages == NULL ? NULL : all->floors[i];
    stage_floor *made =
        ridge_new(ridge_ctx_arena(d->cx), stage_floor, (size_t)stages->n);
    for (int s = 0; made != NULL && s < stages->n; s++)
        made[s] = floor_of(d, &stages->stages[s], l);
    all->floors[i] = made;
    return made;
}

/* ---- rooms ----------------------------------------------------------------------- */

/* Bytes of a parameter on a chip of a mesh under a ZeRO stage. */
typedef struct parameter_bytes {
    double dense, expert;
} parameter_bytes;

/* What may lie on the host is left out. */
static double one_parameter(const search_desk *d, const ridge_layout *l, double shards)
{
    ridge_memory_parts m = {0};
    train_add_state(&d->tc, l, 1, shards, &m);
    return m.gradients_bytes + (d->knobs->offload == RIDGE_KNOB_FREE
                                    ? m.weights_bytes + m.optimizer_bytes
                                    : 0);
}

static parameter_bytes parameter_of(const search_desk *d, const ridge_layout *l)
{
    const train_ways w = train_layout_ways(l);
    return (parameter_bytes){one_parameter(d, l, (double)w.shards),
                             one_parameter(d, l, (double)w.expert_shards)};
}

static double floor_bytes(const search_desk *d, const train_stage *stage,
                          const stage_floor *f, const parameter_bytes *each,
                          const ridge_layout *l)
{
    const double held = f->dense * each->dense + f->expert * each->expert +
                        (l->zero_stage == 3 ? f->gathered_bytes : 0);
    const double under_way =
        f->kept > 0 ? f->kept * train_in_flight(l, stage, train_microbatches(&d->tc, l))
                    : 0;
    const double bytes = held + train_tokens(&d->tc, l) * (under_way + f->working);
    return (bytes + train_reserve_bytes(&d->tc, bytes)) * (1 - SLACK);
}

static bool is_over(const search_desk *d, const train_stages *stages,
                    const stage_floor *floors, const parameter_bytes *each,
                    const ridge_layout *l)
{
    for (int s = 0; s < stages->n; s++) {
        if (floor_bytes(d, &stages->stages[s], &floors[s], each, l) >
            d->tc.usable_bytes)
            return true;
    }
    return false;
}

double search_floor_bytes(search_desk *d, const pipelines *all, int pipeline,
                          const ridge_layout *l)
{
    const stage_floor *floors = floors_of(d, all, pipeline, l);
    const parameter_bytes each = parameter_of(d, l);
    double most = 0;
    if (floors == NULL) {
        d->is_short = true;
        return 0;
    }
    const train_stages *stages = all->stages[pipeline];
    for (int s = 0; s < stages->n; s++)
        most = fmax(most, floor_bytes(d, &stages->stages[s], &floors[s], &each, l));
    return most;
}

/* How many of the microbatches fit. @return -1 when memory ran out */
static int count_fitting(search_desk *d, const pipelines *all, int pipeline,
                         const divisors *microbatches, ridge_layout *l)
{
    pipeline_choice_take(&all->choices.choices[pipeline], l);
    const stage_floor *floors = floors_of(d, all, pipeline, l);
    const parameter_bytes each = parameter_of(d, l);
    int low = 0;
    int high = microbatches->n;
    if (floors == NULL)
        return -1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        l->microbatch_seqs = microbatches->values[middle];
        if (is_over(d, all->stages[pipeline], floors, &each, l)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool search_open_room(search_desk *d, const pipelines *all,
                      const divisors *microbatches, mesh_room *out)
{
    const size_t n = (size_t)all->choices.n * ZERO_STAGES;
    int *fitting = ridge_new(ridge_ctx_scratch(d->cx), int, n);
    *out = (mesh_room){all, microbatches, fitting};
    for (size_t i = 0; fitting != NULL && i < n; i++)
        fitting[i] = -1;
    return fitting != NULL;
}

int search_room_of(search_desk *d, const mesh_room *room, int pipeline,
                   const ridge_layout *of)
{
    ridge_layout l = *of;
    int *at = &room->fitting[of->zero_stage * room->all->choices.n + pipeline];
    if (!d->is_any_known)
        return room->microbatches->n;
    if (*at < 0)
        *at = count_fitting(d, room->all, pipeline, room->microbatches, &l);
    d->is_short = d->is_short || *at < 0;
    return *at;
}

bool search_is_too_wide(const search_desk *d, const ridge_layout *l)
{
    const train_case *tc = &d->tc;
    double inputs = 0;
    double widest = 0;
    for (int i = 0; i < tc->model->n_runs; i++) {
        const ridge_run *run = &tc->model->runs[i];
        const double *bytes = d->load.activation_bytes[run->layer];
        inputs += (double)run->count * bytes[RIDGE_REMAT_FULL];
        widest = fmax(widest, bytes[RIDGE_REMAT_NONE]);
    }
    if (d->knobs->offload != RIDGE_KNOB_FREE)
        inputs = 0; /* they may lie on the host */
    double bytes = train_tokens(tc, l) * (inputs / (double)l->pp + 0.5 * widest);
    return bytes > tc->usable_bytes;
}
