/* Layers dealt out to the stages of a pipeline, in the order of the model. */
#include "paced_step.h"

#include <string.h>

/* Layers of stage s: as even as can be. The surplus goes to the middle, since the first
 * stage also holds the embedding and the last one the head. */
int64_t train_stage_size(int64_t layers, int64_t pp, int64_t s)
{
    int64_t base = layers / pp;
    int64_t surplus = layers % pp;
    int64_t place = s == 0 ? pp - 1 : s == pp - 1 ? pp - 2 : s - 1;
    if (pp < 3)
        place = s;
    return base + (place < surplus ? 1 : 0);
}

static int64_t end_size(int64_t chosen, int64_t even)
{
    return chosen == RIDGE_STAGE_EVEN ? even : chosen == RIDGE_STAGE_NONE ? 0 : chosen;
}

/* With chosen ends the stages between them share the rest, the first of them what is
 * over. */
static int64_t chosen_size(int64_t layers, const stage_cut *cut, int64_t s)
{
    int64_t first = end_size(cut->first_layers, train_stage_size(layers, cut->pp, 0));
    int64_t last =
        end_size(cut->last_layers, train_stage_size(layers, cut->pp, cut->pp - 1));
    if (s == 0)
        return first;
    if (s == cut->pp - 1)
        return last;
    int64_t middle = cut->pp - 2;
    int64_t rest = layers - first - last;
    return rest / middle + (s - 1 < rest % middle ? 1 : 0);
}

int64_t train_stage_layers(int64_t layers, const stage_cut *cut, int64_t s)
{
    bool is_even =
        cut->first_layers == RIDGE_STAGE_EVEN && cut->last_layers == RIDGE_STAGE_EVEN;
    return is_even ? train_stage_size(layers, cut->pp, s) : chosen_size(layers, cut, s);
}

int64_t ridge_layout_stage_layers(const ridge_layout *l, int64_t layers, int64_t stage)
{
    const stage_cut cut = stage_cut_of(l);
    const int64_t chunks = l->vpp > 1 ? l->vpp : 1;
    if (l->pp > 1 && l->schedule == RIDGE_SCHEDULE_DUALPIPE)
        return train_stage_size(layers, l->pp, stage % l->pp);
    if (ridge_layout_has_two_chunks(l))
        return train_stage_size(layers, 2 * l->pp, stage);
    /* What chunks of a rank do not share evenly keeps away from the embedding, and so
     * from the head, whose rank has its last chunk last. */
    const int64_t all = train_stage_layers(layers, &cut, stage % l->pp);
    const int64_t chunk = stage / l->pp, over = all % chunks;
    const bool has_more = stage % l->pp == 0 ? chunk >= chunks - over : chunk < over;
    return all / chunks + (has_more ? 1 : 0);
}

bool train_stages_exist(int64_t layers, const stage_cut *cut)
{
    if (cut->first_layers == RIDGE_STAGE_EVEN && cut->last_layers == RIDGE_STAGE_EVEN)
        return cut->pp <= layers;
    if (cut->pp < 2)
        return false;
    int64_t first = end_size(cut->first_layers, train_stage_size(layers, cut->pp, 0));
    int64_t last =
        end_size(cut->last_layers, train_stage_size(layers, cut->pp, cut->pp - 1));
    int64_t rest = layers - first - last;
    return cut->pp == 2 ? rest == 0 : rest >= cut->pp - 2;
}

bool train_chunks_exist(int64_t layers, int64_t pp, int64_t vpp)
{
    return pp * vpp <= layers || (vpp > 1 && pp * vpp == layers + 2);
}

typedef struct run_cursor {
    int run;
    int64_t used; /* layers of that run already dealt */
} run_cursor;

static void deal(const ridge_model *model, run_cursor *c, int64_t size, double *layers)
{
    while (size > 0 && c->run < model->n_runs) {
        const ridge_run *run = &model->runs[c->run];
        int64_t left = run->count - c->used;
        int64_t take = left < size ? left : size;
        layers[run->layer] += (double)take;
        size -= take;
        c->used += take;
        if (c->used == run->count)
            *c = (run_cursor){c->run + 1, 0};
    }
}

static train_stage *find_alike(train_stages *all, const train_stage *s, int n_kinds)
{
    for (int i = 0; i < all->n; i++) {
        train_stage *t = &all->stages[i];
        bool is_alike =
            t->predictions == s->predictions && t->has_embedding == s->has_embedding &&
            t->has_head == s->has_head &&
            memcmp(t->layers, s->layers, (size_t)n_kinds * sizeof *s->layers) == 0;
        if (is_alike)
            return t;
    }
    return NULL;
}

/* Layers of each kind in the chunks of the pipeline, dealt out in the model's order; a
 * folded pipeline has two chunks a rank. @return NULL when memory ran out */
static double *deal_all(const train_case *tc, const stage_cut *cut, int64_t chunks)
{
    size_t kinds = (size_t)tc->n_kinds;
    double *layers = ridge_new(ridge_ctx_arena(tc->cx), double, (size_t)chunks *kinds);
    run_cursor c = {0};
    stage_cut even = {.pp = chunks};
    for (int64_t s = 0; layers != NULL && s < chunks; s++) {
        int64_t size =
            train_stage_layers(tc->model->layer_count, cut->is_folded ? &even : cut, s);
        deal(tc->model, &c, size, &layers[(size_t)s * kinds]);
    }
    return layers;
}

/* What rank s of a folded pipeline holds: its chunk down and its chunk back up. */
static void fold(double *layers, int64_t pp, int n_kinds)
{
    for (int64_t s = 0; s < pp; s++) {
        for (int k = 0; k < n_kinds; k++)
            layers[s * n_kinds + k] += layers[(2 * pp - 1 - s) * n_kinds + k];
    }
}

/* The mean of a rank's stages, of which each has half of the microbatches. */
static void pair(double *layers, int64_t pp, int n_kinds)
{
    for (int64_t s = 0; s < pp / 2; s++) {
        for (int k = 0; k < n_kinds; k++) {
            double *near = &layers[s * n_kinds + k];
            double *far = &layers[(pp - 1 - s) * n_kinds + k];
            *near = *far = (*near + *far) / 2;
        }
    }
}

/* Beside the head of the last stage each prediction layer has a layer of the model's, a
 * map from 2 D to D, which is as much of a head of V words as 2 D of them, and the head
 * once more. @source deepseek-v3-2024, section 2.2 */
static void add_predictions(const train_case *tc, int64_t depth, double *layers,
                            train_stage *stage)
{
    const ridge_model *m = tc->model;
    if (!stage->has_head || depth == 0)
        return;
    for (int i = 0; i < m->n_mtp_kinds; i++)
        layers[m->mtp_kinds[i]] += (double)depth;
    stage->predictions = (double)depth;
    stage->head_passes +=
        (double)depth * (1 + 2 * (double)m->d_model / (double)m->vocab);
}

static void add_stage(train_stages *all, const train_stage *stage, int rank,
                      int n_kinds)
{
    double size = 0;
    for (int k = 0; k < n_kinds; k++)
        size += stage->layers[k];
    train_stage *alike = find_alike(all, stage, n_kinds);
    if (alike != NULL) {
        alike->count++;
    } else {
        alike = &all->stages[all->n++];
        *alike = *stage;
    }
    all->of_rank[rank] = (int)(alike - all->stages);
    if (size > all->layers_most)
        all->layers_most = size;
}

static bool build(const train_case *tc, const stage_cut *cut, train_stages *out)
{
    const int64_t pp = cut->pp;
    const int64_t chunks = cut->is_folded ? 2 * pp : pp;
    *out = (train_stages){.cut = *cut};
    out->stages = ridge_new(ridge_ctx_arena(tc->cx), train_stage, (size_t)pp);
    double *layers = deal_all(tc, cut, chunks);
    out->of_rank = ridge_new(ridge_ctx_arena(tc->cx), int, (size_t)pp);
    out->passes = ridge_new(ridge_ctx_arena(tc->cx), stage_pass, (size_t)pp);
    out->totals_s = ridge_new(ridge_ctx_arena(tc->cx), double, (size_t)pp);
    out->states = ridge_new(ridge_ctx_arena(tc->cx), ridge_memory_parts, (size_t)pp);
    if (out->stages == NULL || out->of_rank == NULL || out->passes == NULL ||
        out->totals_s == NULL || out->states == NULL || layers == NULL)
        return false;
    if (cut->is_folded)
        fold(layers, pp, tc->n_kinds);
    if (cut->is_dual)
        pair(layers, pp, tc->n_kinds);
    for (int64_t s = 0; s < pp; s++) {
        const int64_t last = cut->is_folded ? 0 : pp - 1;
        train_stage stage = {.layers = &layers[s * tc->n_kinds],
                             .has_embedding = s == 0 || (cut->is_dual && s == last),
                             .has_head = s == last || (cut->is_dual && s == 0),
                             .copies = cut->is_dual ? 2 : 1,
                             .head_passes = cut->is_dual ? 0.5 : 1,
                             .first = (int)s,
                             .count = 1};
        add_predictions(tc, cut->mtp, &layers[s * tc->n_kinds], &stage);
        add_stage(out, &stage, (int)s, tc->n_kinds);
    }
    return true;
}

stage_cut stage_cut_of(const ridge_layout *l)
{
    return (stage_cut){l->pp,
                       l->first_layers,
                       l->last_layers,
                       l->mtp,
                       l->pp > 1 && l->schedule == RIDGE_SCHEDULE_ZB_V,
                       l->pp > 1 && l->schedule == RIDGE_SCHEDULE_DUALPIPE};
}

static bool is_same_cut(const stage_cut *a, const stage_cut *b)
{
    return a->pp == b->pp && a->first_layers == b->first_layers &&
           a->last_layers == b->last_layers && a->mtp == b->mtp &&
           a->is_folded == b->is_folded && a->is_dual == b->is_dual;
}

const train_stages *train_case_stages(train_case *tc, const ridge_layout *l)
{
    const stage_cut cut = stage_cut_of(l);
    for (int i = 0; i < tc->n_stages_by_pp; i++) {
        if (is_same_cut(&tc->stages_by_pp[i].cut, &cut))
            return &tc->stages_by_pp[i];
    }
    if (tc->n_stages_by_pp == tc->cap_stages_by_pp) {
        int cap = 2 * tc->cap_stages_by_pp;
        train_stages *grown =
            ridge_new(ridge_ctx_arena(tc->cx), train_stages, (size_t)cap);
        if (grown == NULL)
            return NULL;
        memcpy(grown, tc->stages_by_pp, (size_t)tc->n_stages_by_pp * sizeof *grown);
        tc->stages_by_pp = grown;
        tc->cap_stages_by_pp = cap;
    }
    train_stages *made = &tc->stages_by_pp[tc->n_stages_by_pp];
    if (!build(tc, &cut, made))
        return NULL;
    tc->n_stages_by_pp++;
    return made;
}
