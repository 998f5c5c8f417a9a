/* Opening a desk: the model with one run of layers for each kind, lowered for decode
 * and prefill at a token a sequence. */
#include "serving_desk.h"

#include "ridge/program.h"

#include <string.h>

enum { SEQUENCES = 16 }; /* rows at which programs are cut, see serving_cut.c */

/* The model as an engine runs it that keeps and reads the whole context where the model
 * would see a window of it: engines compiled without a shorter cache for such layers.
 */
static const ridge_model *open_windows(ridge_ctx *cx, const ridge_model *model)
{
    ridge_model *m = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    ridge_layer *layers =
        ridge_new(ridge_ctx_arena(cx), ridge_layer, (size_t)model->n_layers);
    if (m == NULL || layers == NULL)
        return NULL;
    memcpy(layers, model->layers, (size_t)model->n_layers * sizeof *layers);
    for (int i = 0; i < model->n_layers; i++)
        layers[i].mixer.window = 0;
    *m = *model;
    m->layers = layers;
    return m;
}

/* Layers of a kind together, in the order in which kinds first come. */
static const ridge_model *compact_model(ridge_ctx *cx, const ridge_model *model)
{
    ridge_model *m = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    ridge_run *runs =
        ridge_new(ridge_ctx_arena(cx), ridge_run, (size_t)model->n_layers);
    if (m == NULL || runs == NULL)
        return NULL;
    *m = *model;
    m->n_runs = 0;
    m->runs = runs;
    for (int r = 0; r < model->n_runs; r++) {
        int at = 0;
        while (at < m->n_runs && runs[at].layer != model->runs[r].layer)
            at++;
        if (at == m->n_runs)
            runs[m->n_runs++] = (ridge_run){.layer = model->runs[r].layer};
        runs[at].count += model->runs[r].count;
    }
    return m;
}

static ridge_status lower(ridge_serving_desk *desk, ridge_phase phase,
                          const ridge_program **out)
{
    const ridge_lowering how = {.phase = phase,
                                .sequences = SEQUENCES,
                                .query_tokens = 1,
                                .context_tokens = 1,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    return ridge_program_lower(desk->cx, desk->compact, &how, out);
}

static ridge_status list_weights(ridge_serving_desk *desk)
{
    ridge_arena *arena = ridge_ctx_arena(desk->cx);
    const size_t n = (size_t)desk->model->n_layers;
    desk->weights = ridge_arena_new(arena, n, sizeof *desk->weights);
    desk->n_weights = ridge_new(arena, int, n);
    if (desk->weights == NULL || desk->n_weights == NULL)
        return ridge_fail_nomem(desk->cx);
    for (int i = 0; i < desk->model->n_layers; i++)
        desk->n_weights[i] =
            ridge_layer_weights(desk->model, &desk->model->layers[i], desk->weights[i]);
    return RIDGE_OK;
}

static ridge_status check_case(ridge_ctx *cx, const ridge_serving_case *about)
{
    if (about->slice->next != NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s mixes kinds of chips: a replica needs one kind, name one "
                          "of the pools",
                          about->slice->text);
    if (!(about->longest_tokens >= 1 && about->longest_tokens <= 1e9))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a longest sequence of %g tokens: expected 1 to 1e9",
                          about->longest_tokens);
    if (!(about->expert_skew >= 0 && about->expert_skew <= 4))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "expert loads that fall as rank^-%g: expected 0 to 4",
                          about->expert_skew);
    if (!about->model->has_unembedding)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%.60s has no head: it does not generate, price its prompts "
                          "with ridge train or ridge model",
                          about->model->name);
    return RIDGE_OK;
}

ridge_status ridge_serving_desk_open(ridge_ctx *cx, const ridge_serving_case *about,
                                     ridge_serving_desk **out)
{
    RIDGE_TRY(check_case(cx, about));
    ridge_serving_desk *desk = ridge_new(ridge_ctx_arena(cx), ridge_serving_desk, 1);
    if (desk == NULL)
        return ridge_fail_nomem(cx);
    const ridge_model *model =
        about->engine->ignores_windows ? open_windows(cx, about->model) : about->model;
    if (model == NULL)
        return ridge_fail_nomem(cx);
    *desk = (ridge_serving_desk){.cx = cx,
                                 .about = *about,
                                 .model = model,
                                 .compact = compact_model(cx, model),
                                 .chip = about->slice->chip,
                                 .params = ridge_model_params(model)};
    if (desk->compact == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(lower(desk, RIDGE_PHASE_DECODE, &desk->decode));
    RIDGE_TRY(lower(desk, RIDGE_PHASE_PREFILL, &desk->prefill));
    RIDGE_TRY(list_weights(desk));
    *out = desk;
    return RIDGE_OK;
}
