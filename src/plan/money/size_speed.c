/* How fast a model of a size that exists only as a number would train: as fast as the
 * nearest dense model of the catalogue in its best layout. */
#include "ridge/plan_sizing.h"

#include <math.h>
#include <string.h>

/* Dense decoders alone: mixtures of experts, recurrent layers and attention to images
 * have another speed than a dense model of their size. */
static bool is_dense(const ridge_model *model, const ridge_params *p)
{
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_mixer *mixer = &model->layers[i].mixer;
        if (mixer->kind != RIDGE_MIXER_ATTENTION || mixer->is_cross ||
            mixer->has_shared_kv)
            return false;
    }
    return p->active == p->total;
}

/* The catalogue's dense model whose size is nearest by ratio; of equal ones the first.
 */
static ridge_status nearest_model(ridge_ctx *cx, const ridge_library *library,
                                  double params, const ridge_model **out)
{
    double least = (double)INFINITY;
    *out = NULL;
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        const ridge_model *model = NULL;
        RIDGE_TRY(
            ridge_model_load(cx, library, ridge_library_name(library, i), &model));
        const ridge_params p = ridge_model_params(model);
        const double away = fabs(log((double)p.total / params));
        if (is_dense(model, &p) && away < least) {
            least = away;
            *out = model;
        }
    }
    if (*out == NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no dense model in the catalogue: give --mfu");
    return RIDGE_OK;
}

static double useful_flops_per_s(const ridge_slice *slice, double mfu, double goodput)
{
    return (double)slice->chips * ridge_chip_peak(slice->chip, RIDGE_DTYPE_BF16, NULL) *
           mfu * goodput;
}

static ridge_status search(ridge_ctx *cx, const ridge_sizing_request *r,
                           const ridge_model *model, ridge_size_speed *out)
{
    const ridge_train_request request = {.model = model,
                                         .slice = r->slice,
                                         .batch_tokens = r->batch_tokens,
                                         .seq_tokens = r->seq_tokens,
                                         .convention = RIDGE_CONVENTION_SIX_N,
                                         .knobs = ridge_knobs_free(),
                                         .top = 1,
                                         .progress = r->progress};
    ridge_train_result result;
    RIDGE_TRY(ridge_train_search(cx, &request, &result));
    if (result.n_layouts == 0) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "%s, the nearest in size, does not fit on %s: use more chips, "
            "or give --mfu",
            model->name, r->slice->text);
    }
    const ridge_money money = ridge_train_money(&request, &result.layouts[0], r->money);
    if (money.is_stuck) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "on %s a job fails before it reaches its next checkpoint: "
                          "give another --mtbf, --storage or --failures none",
                          r->slice->text);
    }
    out->model_name = model->name;
    out->mfu = result.layouts[0].mfu;
    out->goodput = money.goodput;
    return RIDGE_OK;
}

ridge_status ridge_size_speed_find(ridge_ctx *cx, const ridge_sizing_request *r,
                                   double params, ridge_size_speed *out)
{
    ridge_size_speed speed = {.mfu = r->mfu, .goodput = 1};
    if (r->mfu == 0) {
        const ridge_model *model = NULL;
        RIDGE_TRY(nearest_model(cx, r->library, params, &model));
        RIDGE_TRY(search(cx, r, model, &speed));
    }
    speed.flops_per_s = useful_flops_per_s(r->slice, speed.mfu, speed.goodput);
    *out = speed;
    return RIDGE_OK;
}
