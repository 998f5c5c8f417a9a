#include "pipeline_choice.h"

#include "divisors.h"

#include <math.h>

enum { LAST_FEWER_MOST = 4 };

/* Layers of the last stage's work that the head is worth, rounded up. */
static int64_t head_layers(const train_case *tc)
{
    double layers = (double)tc->model->layer_count;
    double head = (double)tc->model->vocab * (double)tc->model->d_model;
    double rest = (double)tc->params.matmul_active - head;
    const double mtp = (double)tc->request->knobs.mtp;
    double worth = rest > 0 ? mtp + (1 + mtp) * head / (rest / layers) : 0;
    return worth >= LAST_FEWER_MOST ? LAST_FEWER_MOST : (int64_t)ceil(worth);
}

static int64_t size_or_none(int64_t layers)
{
    return layers == 0 ? RIDGE_STAGE_NONE : layers;
}

typedef struct finder {
    const train_case *tc;
    int64_t pp;
    pipeline_choices *out;
    int room;
} finder;

static void add(finder *f, const pipeline_choice *c)
{
    const stage_cut cut = {
        .pp = f->pp, .first_layers = c->first_layers, .last_layers = c->last_layers};
    const bool is_folded =
        c->schedule == RIDGE_SCHEDULE_ZB_V || c->schedule == RIDGE_SCHEDULE_DUALPIPE;
    if (is_folded && f->tc->request->knobs.mtp > 0)
        return;
    if (f->out->n < f->room && train_stages_exist(f->tc->model->layer_count, &cut))
        f->out->choices[f->out->n++] = *c;
}

/* The ends of one schedule: even, and shorter. */
static void add_cuts(finder *f, ridge_schedule schedule, int64_t vpp)
{
    const ridge_knobs *k = &f->tc->request->knobs;
    const stage_cut even = {.pp = f->pp};
    int64_t layers = f->tc->model->layer_count;
    int64_t first = train_stage_layers(layers, &even, 0);
    int64_t last = train_stage_layers(layers, &even, f->pp - 1);
    int64_t fewer = head_layers(f->tc);
    /* A machine measured by its own runs deals its layers out evenly. */
    bool is_even_only = schedule == RIDGE_SCHEDULE_ZB_V ||
                        schedule == RIDGE_SCHEDULE_DUALPIPE ||
                        !ridge_chip_is_overlapped(f->tc->chip);
    const bool is_first_free = !is_even_only && !k->is_first_fixed;
    /* What prediction layers take from the last stage the first one may hold. */
    for (int64_t a = is_first_free && k->mtp > 0 ? -1 : 0; a <= (is_first_free ? 1 : 0);
         a++) {
        for (int64_t b = 0; b <= (is_even_only || k->is_last_fixed ? 0 : fewer); b++) {
            if (a > first || b > last)
                continue;
            pipeline_choice c = {schedule, vpp, RIDGE_STAGE_EVEN, RIDGE_STAGE_EVEN};
            if (a != 0)
                c.first_layers = size_or_none(first - a);
            if (b > 0)
                c.last_layers = size_or_none(last - b);
            if (k->is_first_fixed)
                c.first_layers = k->first_layers;
            if (k->is_last_fixed)
                c.last_layers = k->last_layers;
            add(f, &c);
        }
    }
}

/* 1F1B, plain and over virtual stages that share a stage's layers evenly. */
static void add_interleaved(finder *f, const divisors *virtual_stages)
{
    int64_t wanted = f->tc->request->knobs.vpp;
    if (wanted > 0) {
        if (train_chunks_exist(f->tc->model->layer_count, f->pp, wanted))
            add_cuts(f, RIDGE_SCHEDULE_1F1B, wanted);
        return;
    }
    bool is_plain_left = f->tc->request->knobs.schedule == RIDGE_SCHEDULE_INTERLEAVED;
    for (int i = is_plain_left ? 1 : 0; i < virtual_stages->n; i++)
        add_cuts(f, RIDGE_SCHEDULE_1F1B, virtual_stages->values[i]);
}

bool pipeline_choices_find(const train_case *tc, int64_t pp, ridge_arena *arena,
                           pipeline_choices *out)
{
    const ridge_knobs *k = &tc->request->knobs;
    const pipeline_choice plain = {RIDGE_SCHEDULE_1F1B, 1, RIDGE_STAGE_EVEN,
                                   RIDGE_STAGE_EVEN};
    divisors virtual_stages;
    int64_t per_stage = tc->model->layer_count / pp;
    if (!divisors_of(arena, per_stage > 0 ? per_stage : 1, &virtual_stages))
        return false;
    int room = 3 * (LAST_FEWER_MOST + 1) * (virtual_stages.n + RIDGE_SCHEDULE_COUNT);
    *out =
        (pipeline_choices){.choices = ridge_new(arena, pipeline_choice, (size_t)room)};
    if (out->choices == NULL)
        return false;
    finder f = {tc, pp, out, room};
    if (pp == 1) {
        out->choices[out->n++] = plain;
        return true;
    }
    bool is_any = k->schedule == RIDGE_KNOB_ANY;
    bool is_free = is_any || k->schedule == RIDGE_KNOB_FREE;
    if (is_free || k->schedule == RIDGE_SCHEDULE_INTERLEAVED)
        add_interleaved(&f, &virtual_stages);
    for (int i = 0; i < RIDGE_SCHEDULE_COUNT; i++) {
        bool is_added = is_any ? ridge_schedule_is_split((ridge_schedule)i)
                               : i == k->schedule && i != RIDGE_SCHEDULE_INTERLEAVED;
        if (is_added && k->vpp <= 1)
            add_cuts(&f, (ridge_schedule)i, 1);
    }
    return true;
}

void pipeline_choice_take(const pipeline_choice *c, ridge_layout *l)
{
    l->schedule = c->schedule;
    l->vpp = c->vpp;
    l->first_layers = c->first_layers;
    l->last_layers = c->last_layers;
}

/* Stages of which each works on another microbatch while the pipeline is full. */
bool pipeline_is_legal(const ridge_layout *l, int64_t layers, int64_t microbatches)
{
    if (l->pp == 1)
        return true;
    switch (ridge_layout_schedule(l)) {
    case RIDGE_SCHEDULE_INTERLEAVED:
    case RIDGE_SCHEDULE_ZB_H1:
        return microbatches >= l->pp;
    case RIDGE_SCHEDULE_ZB_H2:
        return microbatches >= 2 * l->pp - 1;
    case RIDGE_SCHEDULE_ZB_V:
        return microbatches >= 2 * l->pp - 1 && layers >= 2 * l->pp;
    case RIDGE_SCHEDULE_DUALPIPE:
        return microbatches >= 2 * l->pp && microbatches % 2 == 0 && l->pp % 2 == 0;
    case RIDGE_SCHEDULE_1F1B:
    case RIDGE_SCHEDULE_GPIPE:
        break;
    }
    return true;
}
