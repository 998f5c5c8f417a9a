/* Derivations of parameters: each weight's sizes, as ridge_layer_weights() lists them.
 */
#include "model_story.h"

#define EXACT(x) ridge_format_exact(x).s

/* Lines that a derivation spends on weights; kinds of layers are summed beyond. */
enum { WEIGHT_LINES_MOST = 70 };

static int64_t params_of(const ridge_weight *w)
{
    return w->in * w->out * w->copies + w->vector_params;
}

/* ---- one part of one kind of layers ---------------------------------------------- */

static int64_t kind_params(const model_story *s, int kind, ridge_part part, int *n)
{
    ridge_weight weights[RIDGE_WEIGHT_MAX];
    const ridge_layer *layer = &s->model->layers[kind];
    const int n_weights = ridge_layer_weights(s->model, layer, weights);
    int64_t sum = 0;
    for (int i = 0; i < n_weights; i++) {
        if (weights[i].part != part)
            continue;
        sum += params_of(&weights[i]) * layer->weight_sets;
        ++*n;
    }
    return sum;
}

/* "8,192 x 1,024 x 256 experts + 1,024, 58 layers" */
static void tell_weight(model_story *s, int depth, const ridge_weight *w, int64_t sets)
{
    char copies[64] = "", vectors[64] = "";
    const bool is_matrix = w->in > 0 && w->out > 0;
    if (w->copies > 1)
        snprintf(copies, sizeof copies, " x %s experts", EXACT(w->copies));
    if (w->vector_params > 0)
        snprintf(vectors, sizeof vectors, "%s%s", is_matrix ? " + " : "",
                 EXACT(w->vector_params));
    const int64_t all = params_of(w) * sets;
    if (is_matrix)
        model_story_add(s, depth, w->name, "in x out, in every layer", EXACT(all),
                        "(%s x %s%s%s) x %s layers", EXACT(w->in), EXACT(w->out),
                        copies, vectors, EXACT(sets));
    else
        model_story_add(s, depth, w->name, "vectors, in every layer", EXACT(all),
                        "%s x %s layers", vectors, EXACT(sets));
}

static void tell_weights(model_story *s, int depth, int kind, ridge_part part)
{
    ridge_weight weights[RIDGE_WEIGHT_MAX];
    const ridge_layer *layer = &s->model->layers[kind];
    const int n = ridge_layer_weights(s->model, layer, weights);
    for (int i = 0; i < n; i++) {
        if (weights[i].part == part && params_of(&weights[i]) > 0)
            tell_weight(s, depth, &weights[i], layer->weight_sets);
    }
}

/* ---- parts ----------------------------------------------------------------------- */

typedef struct part_of {
    const char *name, *formula;
    int64_t params;
} part_of;

static part_of part_named(const model_story *s, ridge_part part)
{
    const ridge_params *p = &s->params;
    switch (part) {
    case RIDGE_PART_ATTENTION:
        return (part_of){"attention", "sum over projections of the mixers",
                         p->attention};
    case RIDGE_PART_MLP:
        return (part_of){"mlp", "sum over dense feed-forwards and shared experts",
                         p->mlp};
    case RIDGE_PART_ROUTER:
        return (part_of){"router", "sum over routers", p->router};
    case RIDGE_PART_EXPERTS:
        return (part_of){"experts", "sum over routed experts, all of them", p->experts};
    case RIDGE_PART_NORM:
        break;
    }
    return (part_of){"norm", "sum over norms of layers, and the last one", p->norm};
}

/* A line for each kind of layers, and its weights where there is room for them all. */
static void tell_kinds(model_story *s, int depth, ridge_part part, bool has_weights)
{
    const int n_kinds = s->model->n_layers;
    for (int k = 0; k < n_kinds; k++) {
        char name[48];
        int n = 0;
        const int64_t sum = kind_params(s, k, part, &n);
        if (sum == 0)
            continue;
        if (n_kinds == 1 && has_weights) {
            tell_weights(s, depth, k, part);
            continue;
        }
        snprintf(name, sizeof name, "layer kind %d of %d", k + 1, n_kinds);
        model_story_add(s, depth, name, "sum over its weights", EXACT(sum),
                        "%s layers, %d weights", EXACT(s->model->layers[k].count), n);
        if (has_weights)
            tell_weights(s, depth + 1, k, part);
    }
}

static int lines_of(const model_story *s, ridge_part part)
{
    int n = 0;
    for (int k = 0; k < s->model->n_layers; k++)
        (void)kind_params(s, k, part, &n);
    return n + s->model->n_layers;
}

static void tell_part(model_story *s, int depth, ridge_part part, bool has_weights)
{
    const part_of told = part_named(s, part);
    if (told.params == 0 && depth > 0)
        return;
    model_story_add(s, depth, told.name, told.formula, EXACT(told.params), "%s",
                    told.params == 0 ? "the model has none" : "");
    tell_kinds(s, depth + 1, part, has_weights);
    if (part == RIDGE_PART_NORM && s->model->final_norm_params > 0)
        model_story_add(s, depth + 1, "final norm", "before the unembedding",
                        EXACT(s->model->final_norm_params), "D = %s",
                        EXACT(s->model->d_model));
}

void model_story_part(model_story *s, int depth, ridge_part part)
{
    tell_part(s, depth, part, lines_of(s, part) <= WEIGHT_LINES_MOST);
}

void model_story_embedding(model_story *s, int depth)
{
    const ridge_model *m = s->model;
    const int64_t rest = m->embedding_params - m->vocab * m->d_model;
    model_story_add(s, depth, "embedding",
                    rest == 0 ? "V x D" : "V x D, and positions and other tables",
                    EXACT(m->embedding_params), "%s x %s%s%s", EXACT(m->vocab),
                    EXACT(m->d_model),
                    rest == 0  ? ""
                    : rest > 0 ? " + "
                               : " - ",
                    rest == 0 ? "" : EXACT(rest > 0 ? rest : -rest));
}

void model_story_unembedding(model_story *s, int depth)
{
    const ridge_model *m = s->model;
    const char *formula = m->is_tied           ? "0: it shares the embedding's table"
                          : m->has_unembedding ? "V x D"
                                               : "0: the model has none";
    char beside[128] = "";
    if (m->head_params > 0)
        snprintf(beside, sizeof beside, "; %s beside it: biases, poolers",
                 EXACT(m->head_params));
    model_story_add(s, depth, "unembedding", formula, EXACT(s->params.unembedding),
                    "%s x %s%s", EXACT(m->vocab), EXACT(m->d_model), beside);
}

void model_story_aside(model_story *s, int depth, bool is_vision)
{
    model_story_add(s, depth, is_vision ? "vision" : "mtp",
                    is_vision ? "the tower, as its config says; not in the total"
                              : "layers that predict further tokens; not in the total",
                    EXACT(is_vision ? s->params.vision : s->params.mtp), "%s", "");
}

/* ---- totals ---------------------------------------------------------------------- */

void model_story_parameters(model_story *s, int depth)
{
    int lines = 0;
    for (int part = 0; part < RIDGE_PART_COUNT; part++)
        lines += lines_of(s, (ridge_part)part);
    model_story_add(s, depth, "parameters", "sum of the parts", EXACT(s->params.total),
                    "%s", ridge_format_count((double)s->params.total).s);
    model_story_embedding(s, depth + 1);
    for (int part = 0; part < RIDGE_PART_COUNT; part++)
        tell_part(s, depth + 1, (ridge_part)part, lines <= WEIGHT_LINES_MOST);
    model_story_unembedding(s, depth + 1);
    if (s->model->published_params > 0)
        model_story_add(s, depth + 1, "published", "not in the sum: to compare with",
                        EXACT(s->model->published_params), "%s",
                        s->model->source == NULL ? "" : s->model->source);
}

void model_story_active(model_story *s, int depth)
{
    const ridge_params *p = &s->params;
    model_story_add(s, depth, "active", "total - experts + experts of one token",
                    EXACT(p->active), "%s - %s + %s", EXACT(p->total),
                    EXACT(p->experts), EXACT(p->experts_active));
    for (int k = 0; k < s->model->n_layers; k++) {
        const ridge_layer *l = &s->model->layers[k];
        if (l->ffn.kind != RIDGE_FFN_MOE)
            continue;
        model_story_add(s, depth + 1, "experts of one token",
                        "k of E, of experts in layers alike",
                        EXACT(l->ffn.experts_per_token), "of %s, in %s layers",
                        EXACT(l->ffn.experts), EXACT(l->count));
    }
    model_story_parameters(s, depth + 1);
}
