/* Change of the step when one number is a tenth larger: of the hardware, the model or
 * the workload. The layout is priced again on a changed copy. */
#include "lever.h"

#include "ridge/plan.h"

#include <math.h>

static const double LARGER = 1.1;

/* ---- models ---------------------------------------------------------------------- */

/* What a changed request borrows. */
typedef struct copies {
    ridge_train_request request;
    ridge_slice slice;
    ridge_chip chip;
    ridge_model model;
    ridge_layer *layers; /* [n_layers] */
    ridge_run *runs;     /* [n_runs] */
} copies;

static int64_t larger_multiple(int64_t value, int64_t of)
{
    int64_t by = (int64_t)round((double)value * (LARGER - 1) / (double)of);
    return value + (by < 1 ? 1 : by) * of;
}

/* Widths grow by what every chip of the layout can take. */
static int64_t width_unit(const ridge_layout *l)
{
    return 128 * l->tp;
}

static double grow_vocab(copies *c, const ridge_layout *l)
{
    const int64_t before = c->model.vocab;
    const int64_t after = larger_multiple(before, width_unit(l));
    const double by = (double)after / (double)before;
    c->model.vocab = after;
    c->model.embedding_params = (int64_t)((double)c->model.embedding_params * by);
    c->model.unembedding_params = (int64_t)((double)c->model.unembedding_params * by);
    return by;
}

static double grow_feed_forward(copies *c, const ridge_layout *l)
{
    double by = 1;
    for (int k = 0; k < c->model.n_layers; k++) {
        ridge_ffn *f = &c->layers[k].ffn;
        int64_t *const widths[] = {&f->d_ff, &f->expert_d_ff, &f->shared_d_ff};
        for (size_t i = 0; i < RIDGE_COUNT_OF(widths); i++) {
            if (*widths[i] <= 0)
                continue;
            const int64_t after = larger_multiple(*widths[i], width_unit(l));
            by = (double)after / (double)*widths[i];
            *widths[i] = after;
        }
    }
    return by;
}

/* Of the longest run, by as many as there are stages. */
static double grow_layers(copies *c, const ridge_layout *l)
{
    const int64_t unit = l->pp * l->vpp;
    int longest = 0;
    for (int i = 1; i < c->model.n_runs; i++) {
        if (c->runs[i].count > c->runs[longest].count)
            longest = i;
    }
    const int64_t more =
        larger_multiple(c->model.layer_count, unit) - c->model.layer_count;
    c->runs[longest].count += more;
    c->layers[c->runs[longest].layer].count += more;
    c->layers[c->runs[longest].layer].weight_sets += more;
    c->model.layer_count += more;
    return (double)c->model.layer_count / (double)(c->model.layer_count - more);
}

/* ---- workloads ------------------------------------------------------------------- */

/* As many microbatches more as come to a tenth. */
static double grow_batch(copies *c, const ridge_layout *l)
{
    const double unit = (double)(l->dp * l->fsdp * l->microbatch_seqs);
    const double before = round(c->request.batch_tokens / c->request.seq_tokens);
    const double after = before + unit * fmax(1, round(before * (LARGER - 1) / unit));
    c->request.batch_tokens = after * c->request.seq_tokens;
    return after / before;
}

/* Longer sequences, as many of them: more tokens a step. */
static double grow_sequence(copies *c, const ridge_layout *l)
{
    const double seqs = round(c->request.batch_tokens / c->request.seq_tokens);
    const int64_t before = (int64_t)c->request.seq_tokens;
    const int64_t after = larger_multiple(before, l->cp * l->tp);
    c->request.seq_tokens = (double)after;
    c->request.batch_tokens = seqs * (double)after;
    return (double)after / (double)before;
}

typedef struct number {
    const char *what;
    double (*grow)(copies *c, const ridge_layout *l); /* @return by which factor */
} number;

static const number numbers[] = {
    {"layers", grow_layers},
    {"feed-forward width", grow_feed_forward},
    {"vocabulary", grow_vocab},
    {"tokens of a batch", grow_batch},
    {"tokens of a sequence", grow_sequence},
};

_Static_assert(RIDGE_COUNT_OF(numbers) + LEVER_COUNT <= RIDGE_SENSITIVITY_MAX,
               "room for every number");

/* ---- prices ---------------------------------------------------------------------- */

static ridge_status open_copies(ridge_ctx *cx, const ridge_train_request *request,
                                copies *c)
{
    const ridge_model *m = request->model;
    c->request = *request;
    c->slice = *request->slice;
    c->chip = *request->slice->chip;
    c->model = *m;
    c->layers = ridge_new(ridge_ctx_arena(cx), ridge_layer, (size_t)m->n_layers);
    c->runs = ridge_new(ridge_ctx_arena(cx), ridge_run, (size_t)m->n_runs);
    if (c->layers == NULL || c->runs == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < m->n_layers; i++)
        c->layers[i] = m->layers[i];
    for (int i = 0; i < m->n_runs; i++)
        c->runs[i] = m->runs[i];
    c->model.layers = c->layers;
    c->model.runs = c->runs;
    c->slice.chip = &c->chip;
    c->request.slice = &c->slice;
    c->request.model = &c->model;
    c->request.shelf = NULL; /* they change in place */
    return RIDGE_OK;
}

/* The change per tenth, if the number grew by another factor. */
static double tenth(double step_change, double by)
{
    return by > 1 ? pow(1 + step_change, log(LARGER) / log(by)) - 1 : 0;
}

static ridge_status add(ridge_ctx *cx, copies *c, const ridge_train_price *price,
                        double by, ridge_sensitivity line, ridge_sensitivity *out,
                        int *n)
{
    ridge_train_price p;
    RIDGE_TRY(ridge_train_price_one(cx, &c->request, &price->layout, &p));
    if (p.step_time_s <= 0) /* not legal for these layers */
        return RIDGE_OK;
    line.step_change = tenth(p.step_time_s / price->step_time_s - 1, by);
    out[(*n)++] = line;
    return RIDGE_OK;
}

ridge_status ridge_train_sensitivity(ridge_ctx *cx, const ridge_train_request *request,
                                     const ridge_train_price *price,
                                     ridge_sensitivity *out, int *n)
{
    copies c;
    *n = 0;
    for (int i = 0; i < LEVER_COUNT; i++) {
        const lever *l = &levers[i];
        RIDGE_TRY(open_copies(cx, request, &c));
        l->pull(&c.chip, &c.slice, l->is_better_lower ? 1 / LARGER : LARGER);
        const char *name = ridge_sprintf(ridge_ctx_arena(cx), "%s %s", l->what,
                                         l->is_better_lower ? "/ 1.1" : "+10 %");
        RIDGE_TRY(
            add(cx, &c, price, LARGER, (ridge_sensitivity){name, true, 0}, out, n));
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers); i++) {
        RIDGE_TRY(open_copies(cx, request, &c));
        const double by = numbers[i].grow(&c, &price->layout);
        const char *name =
            ridge_sprintf(ridge_ctx_arena(cx), "%s +10 %%", numbers[i].what);
        RIDGE_TRY(add(cx, &c, price, by, (ridge_sensitivity){name, false, 0}, out, n));
    }
    return RIDGE_OK;
}
