/*
 * Limits taken away one at a time, each searched again: which of them costs most, or
 * what is the mildest change with which anything fits.
 */
#include "relaxed_knobs.h"
#include "state_room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct relaxer {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const ridge_train_request *request;
    const ridge_train_price *best; /* NULL: nothing fits */
    ridge_lock *lock;              /* of: */
    int64_t fitting; /* chips of the smallest slice known to hold a layout */
    int n;
    relaxed_variant variants[RIDGE_RELAXATION_MAX];
} relaxer;

/* @return NULL: no room */
static relaxed_variant *add(relaxer *r, const char *name, const char *what)
{
    if (r->n == RIDGE_RELAXATION_MAX)
        return NULL;
    relaxed_variant *v = &r->variants[r->n++];
    *v =
        (relaxed_variant){.request = *r->request, .line = {.name = name, .what = what}};
    v->has_same = r->best != NULL;
    if (v->has_same)
        v->same = r->best->layout;
    v->request.top = 1;
    v->request.front = 0;
    v->request.workers = 1;
    v->request.progress = NULL;
    return v;
}

static void add_knobs(relaxer *r)
{
    for (const relaxed_knob *k = relaxed_knobs; k->name != NULL; k++) {
        if (!k->is_wanted(&(relaxed_case){r->request, r->best}))
            continue;
        relaxed_variant *v = add(r, k->name, k->what);
        if (v != NULL)
            k->take(v);
    }
}

/* ---- hardware and batch ---------------------------------------------------------- */

typedef struct purchase {
    const char *name, *what;
    ridge_change change;
    bool is_for_memory; /* wanted where nothing fits */
} purchase;

static const purchase purchases[] = {
    {"hbm_bytes=1.25x", "a quarter more memory", {"hbm_bytes", 1.25}, true},
    {"hbm_bytes=2x", "twice the memory", {"hbm_bytes", 2}, true},
    {"inner=2x", "twice the bandwidth of the innermost level", {"inner", 2}, false},
    {"outer=2x", "twice the bandwidth of the outer levels", {"outer", 2}, false},
    {"hbm=2x", "twice the memory bandwidth", {"hbm", 2}, false},
};

static ridge_status add_purchases(relaxer *r)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(purchases); i++) {
        const purchase *p = &purchases[i];
        const ridge_what_if what = {.n = 1, .changes = {p->change}};
        relaxed_variant *v =
            p->is_for_memory || r->best != NULL ? add(r, p->name, p->what) : NULL;
        if (v != NULL)
            RIDGE_TRY(
                ridge_slice_change(r->cx, r->request->slice, &what, &v->request.slice));
    }
    return RIDGE_OK;
}

static void add_batches(relaxer *r)
{
    const double seq = r->request->seq_tokens;
    if (r->best != NULL && r->best->padded_seqs > 0) {
        const double seqs = round(r->request->batch_tokens / seq);
        relaxed_variant *v = add(r, "a whole batch", "no replica works on padding");
        if (v != NULL)
            v->request.batch_tokens = (seqs + (double)r->best->padded_seqs) * seq;
    }
    relaxed_variant *v =
        r->best != NULL ? add(r, "twice the batch", "tokens of a step") : NULL;
    if (v != NULL)
        v->request.batch_tokens *= 2;
    v = r->best == NULL && seq >= 2048
            ? add(r, "half the sequence", "and as many tokens a step")
            : NULL;
    if (v != NULL)
        v->request.seq_tokens = floor(seq / 2);
}

/* Slices of twice the chips and so on, where nothing fits. */
static void add_slices(relaxer *r)
{
    static const int64_t times[] = {2, 3, 4, 6, 8, 16, 32};
    const ridge_slice *slice = r->request->slice;
    for (size_t i = 0; r->best == NULL && i < RIDGE_COUNT_OF(times); i++) {
        const ridge_slice *larger;
        int64_t chips;
        if (slice->system == NULL || !ridge_mul_i64(slice->chips, times[i], &chips))
            return;
        if (ridge_slice_of_chips(r->cx, r->catalog, slice->system, chips, &larger) !=
            RIDGE_OK) {
            ridge_ctx_clear(r->cx);
            continue;
        }
        relaxed_variant *v = add(r, larger->text, "a larger slice");
        if (v != NULL)
            v->request.slice = larger;
    }
}

/* ---- answers --------------------------------------------------------------------- */

static void learn(relaxed_variant *v, const ridge_train_price *price)
{
    v->line.has_best = true;
    v->line.best = *price;
    v->request.known_step_s = price->step_time_s;
}

/* Meshes with the best layout's tp and cp first: few, and what is best among them is
 * seldom far from the best of all. */
static ridge_status search_near(ridge_ctx *cx, relaxed_variant *v,
                                const ridge_train_price *best)
{
    ridge_train_request near = v->request;
    ridge_train_result result;
    near.knobs.tp = best->layout.tp;
    near.knobs.cp = best->layout.cp;
    RIDGE_TRY(ridge_train_search(cx, &near, &result));
    if (result.n_layouts > 0)
        learn(v, &result.layouts[0]);
    return RIDGE_OK;
}

/* The best layout, where the variant has it too, is there from the start: only faster
 * ones are looked for. */
static ridge_status search_variant(ridge_ctx *cx, const ridge_train_price *best,
                                   relaxed_variant *v)
{
    ridge_relaxation *line = &v->line;
    ridge_train_result result;
    bool can_fit;
    RIDGE_TRY(train_state_holds(cx, &v->request, &can_fit));
    if (!can_fit)
        return RIDGE_OK;
    if (v->has_same) {
        RIDGE_TRY(ridge_train_price_one(cx, &v->request, &v->same, &line->best));
        line->has_best = line->best.fit == RIDGE_FIT_OK;
        v->request.known_step_s = line->has_best ? line->best.step_time_s : 0;
    }
    if (best != NULL)
        RIDGE_TRY(search_near(cx, v, best));
    RIDGE_TRY(ridge_train_search(cx, &v->request, &result));
    if (result.n_layouts > 0)
        learn(v, &result.layouts[0]);
    return RIDGE_OK;
}

/* Of larger slices only the smallest is told: those beyond it are not searched, however
 * far the others are. */
static bool is_beyond(relaxer *r, const relaxed_variant *v)
{
    ridge_lock_take(r->lock);
    const bool is_larger = v->request.slice->chips > r->fitting;
    ridge_lock_give(r->lock);
    return r->best == NULL && is_larger;
}

static void learn_fitting(relaxer *r, const relaxed_variant *v)
{
    const int64_t chips = v->request.slice->chips;
    if (r->best != NULL || !v->line.has_best || chips == r->request->slice->chips)
        return;
    ridge_lock_take(r->lock);
    r->fitting = chips < r->fitting ? chips : r->fitting;
    ridge_lock_give(r->lock);
}

static void run(void *payload, int64_t item, int worker)
{
    relaxer *r = payload;
    relaxed_variant *v = &r->variants[item];
    if (is_beyond(r, v))
        return;
    ridge_ctx *cx = ridge_ctx_open();
    if (worker == 0 && r->request->progress != NULL)
        ridge_progress_show(r->request->progress, (double)item / (double)r->n,
                            "asking what would help");
    if (cx == NULL) {
        v->status = RIDGE_E_NOMEM;
        return;
    }
    v->status = search_variant(cx, r->best, v);
    learn_fitting(r, v);
    if (v->status == RIDGE_E_ARG) /* the change contradicts another knob */
        v->status = RIDGE_OK;
    ridge_ctx_close(cx);
}

static double token_s(const ridge_train_price *p, const ridge_slice *slice)
{
    return 1 / (p->tokens_per_s_per_chip * (double)slice->chips);
}

static int by_change(const void *a, const void *b)
{
    const ridge_relaxation *x = a;
    const ridge_relaxation *y = b;
    if (x->step_change != y->step_change)
        return x->step_change < y->step_change ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Of the slices only the smallest is told: they stand last, in order. */
static int collect(const relaxer *r, ridge_relaxation *out)
{
    int n = 0;
    bool has_slice = false;
    for (int i = 0; i < r->n; i++) {
        const relaxed_variant *v = &r->variants[i];
        const bool is_slice =
            r->best == NULL && v->request.slice->chips != r->request->slice->chips;
        if (!v->line.has_best || (is_slice && has_slice))
            continue;
        has_slice = has_slice || is_slice;
        out[n] = v->line;
        if (r->best != NULL)
            out[n].step_change = token_s(&v->line.best, v->request.slice) /
                                     token_s(r->best, r->request->slice) -
                                 1;
        n++;
    }
    if (r->best != NULL)
        qsort(out, (size_t)n, sizeof *out, by_change);
    return n;
}

ridge_status ridge_train_relax(ridge_ctx *cx, const ridge_catalog *catalog,
                               const ridge_train_request *request,
                               const ridge_train_price *best, ridge_relaxation *out,
                               int *n)
{
    relaxer *r = ridge_new(ridge_ctx_arena(cx), relaxer, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    r->cx = cx;
    r->catalog = catalog;
    r->request = request;
    r->best = best;
    r->fitting = INT64_MAX;
    RIDGE_TRY(ridge_lock_open(cx, &r->lock));
    add_knobs(r);
    RIDGE_TRY(add_purchases(r));
    add_batches(r);
    add_slices(r);
    RIDGE_TRY(ridge_parallel(cx, ridge_processor_count(), r->n, run, r));
    if (ridge_ctx_is_cancelled(cx))
        return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled during the search");
    for (int i = 0; i < r->n; i++) {
        if (r->variants[i].status != RIDGE_OK)
            return ridge_fail_nomem(cx);
    }
    *n = collect(r, out);
    return RIDGE_OK;
}
