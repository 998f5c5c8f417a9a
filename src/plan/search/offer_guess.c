#include "offer_guess.h"

#include <math.h>

/* A layout on so many times the chips. @return false: shards or replicas do not grow so
 */
static bool resize(ridge_layout *l, int64_t chips, int64_t before, bool is_sharded)
{
    int64_t *degree = is_sharded ? &l->fsdp : &l->dp;
    int64_t grown;
    if (!ridge_mul_i64(*degree, chips, &grown) || grown % before != 0)
        return false;
    *degree = grown / before;
    return true;
}

/* Whether a search tries it: whole microbatches, and of interleaved ones whole groups.
 */
static bool is_searched(const ridge_train_request *r, const ridge_layout *l)
{
    const int64_t seqs = (int64_t)round(r->batch_tokens / floor(r->seq_tokens));
    const int64_t share = ridge_ceil_div(seqs < 1 ? 1 : seqs, l->dp * l->fsdp);
    return share % l->microbatch_seqs == 0 &&
           (l->vpp == 1 || share / l->microbatch_seqs % l->pp == 0);
}

static ridge_status try_layout(ridge_ctx *cx, const ridge_train_request *request,
                               const ridge_layout *layout, double *step_s)
{
    ridge_train_price price;
    if (!is_searched(request, layout))
        return RIDGE_OK;
    RIDGE_TRY(ridge_train_price_one(cx, request, layout, &price));
    if (price.fit == RIDGE_FIT_OK && (*step_s <= 0 || price.step_time_s < *step_s))
        *step_s = price.step_time_s;
    return RIDGE_OK;
}

/* The least that the others take here. @param step_s  out; 0: none of them fits */
static ridge_status guess_step(ridge_ctx *cx, const ridge_train_request *request,
                               const known_layout *others, int n, double *step_s)
{
    *step_s = 0;
    for (int i = 0; i < 2 * n; i++) {
        const known_layout *o = &others[i / 2];
        ridge_layout l = o->layout;
        if (o->slice->chip == request->slice->chip &&
            resize(&l, request->slice->chips, o->slice->chips, i % 2 == 0))
            RIDGE_TRY(try_layout(cx, request, &l, step_s));
    }
    return RIDGE_OK;
}

/* A layout that is known may itself be none that a search tries. */
ridge_status offer_search_knowing(ridge_ctx *cx, const ridge_train_request *request,
                                  const known_layout *others, int n,
                                  ridge_train_result *out)
{
    ridge_train_request bounded = *request;
    RIDGE_TRY(guess_step(cx, request, others, n, &bounded.known_step_s));
    RIDGE_TRY(ridge_train_search(cx, &bounded, out));
    const bool is_found = out->n_layouts > 0 && out->layouts[0].step_time_s <=
                                                    bounded.known_step_s * (1 + 1e-6);
    return bounded.known_step_s <= 0 || is_found ? RIDGE_OK
                                                 : ridge_train_search(cx, request, out);
}
