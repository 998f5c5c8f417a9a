/* Layers dealt out to the stages of a pipeline, in the order of the model. */
#include "train_case.h"

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
            t->has_embedding == s->has_embedding && t->has_head == s->has_head &&
            memcmp(t->layers, s->layers, (size_t)n_kinds * sizeof *s->layers) == 0;
        if (is_alike)
            return t;
    }
    return NULL;
}

static bool build(const train_case *tc, int64_t pp, train_stages *out)
{
    ridge_arena *arena = ridge_ctx_arena(tc->cx);
    size_t kinds = (size_t)tc->n_kinds;
    *out = (train_stages){.pp = pp};
    out->stages = ridge_new(arena, train_stage, (size_t)pp);
    out->of_rank = ridge_new(arena, int, (size_t)pp);
    if (out->stages == NULL || out->of_rank == NULL)
        return false;
    run_cursor c = {0};
    for (int64_t s = 0; s < pp; s++) {
        double *layers = ridge_new(arena, double, kinds);
        if (layers == NULL)
            return false;
        int64_t size = train_stage_size(tc->model->layer_count, pp, s);
        deal(tc->model, &c, size, layers);
        train_stage stage = {layers, s == 0, s == pp - 1, (int)s, 1};
        train_stage *alike = find_alike(out, &stage, tc->n_kinds);
        if (alike != NULL) {
            alike->count++;
        } else {
            alike = &out->stages[out->n++];
            *alike = stage;
        }
        out->of_rank[s] = (int)(alike - out->stages);
        if ((double)size > out->layers_most)
            out->layers_most = (double)size;
    }
    return true;
}

const train_stages *train_case_stages(train_case *tc, int64_t pp)
{
    for (int i = 0; i < tc->n_stages_by_pp; i++) {
        if (tc->stages_by_pp[i].pp == pp)
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
    if (!build(tc, pp, made))
        return NULL;
    tc->n_stages_by_pp++;
    return made;
}
