/*
 * The end of a step: gradients reduced, those of a weight that two stages hold added
 * up, clipped by their global norm, and weights updated.
 * @source pascanu2013 (clipping)
 */
#include "runner.h"

#include <math.h>

/* ---- sharing numbers ---------------------------------------------------------------
 */

/* As pairs of int32: their bits. */
ridge_status ridge__share_doubles(ridge__runner *r, ridge_comm *comm, const double *in,
                                  int n, double *out)
{
    ridge__device *d = r->device;
    const size_t bytes = (size_t)n * sizeof(double);
    const int ranks = ridge_comm_size(comm);
    const ridge_cut cut = {1, 2 * (int64_t)n * ranks, 1};
    ridge_pending pending;
    void *src, *dst;
    RIDGE_TRY(d->ops->alloc(d, bytes, &src));
    RIDGE_TRY(d->ops->alloc(d, bytes * (size_t)ranks, &dst));
    RIDGE_TRY(d->ops->upload(d, src, in, bytes));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_gather_start(r->cx, comm, RIDGE_ELEMENT_I32, &cut, src, dst,
                                     &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    RIDGE_TRY(d->ops->download(d, out, dst, bytes * (size_t)ranks));
    d->ops->release(d, src);
    d->ops->release(d, dst);
    return RIDGE_OK;
}

ridge_status ridge__share_sum(ridge__runner *r, double in, double *out)
{
    double all[RIDGE_RANK_MAX], sum = 0.0;
    const int ranks = ridge_comm_size(r->world);
    RIDGE_TRY(ridge__share_doubles(r, r->world, &in, 1, all));
    for (int i = 0; i < ranks; i++)
        sum += all[i];
    *out = sum;
    return RIDGE_OK;
}

/* ---- gradients ---------------------------------------------------------------------
 */

static ridge_status add_square(ridge__runner *r, const ridge__updated *u, void *payload)
{
    double *sum = payload, square;
    const ridge__array x = {u->value->p, u->value->dtype};
    RIDGE_TRY(
        r->device->ops->sum_of_squares(r->device, x, u->value->elements, &square));
    *sum += square / (double)ridge__tensor_replicas(u->chunk->m, u->gradient);
    return RIDGE_OK;
}

/* Of this rank's gradients, those of copied stages once. */
static ridge_status sum_squares(ridge__runner *r, double *out)
{
    *out = 0.0;
    for (int i = 0; i < r->n_chunks; i++) {
        if (!r->chunks[i].is_copy)
            RIDGE_TRY(ridge__chunk_each_update(r, &r->chunks[i], add_square, out));
    }
    return RIDGE_OK;
}

/* ---- the update --------------------------------------------------------------------
 */

static ridge_status open_steps(ridge__runner *r, ridge__flight **out)
{
    ridge__flight *steps =
        ridge_new(ridge_ctx_arena(r->cx), ridge__flight, (size_t)r->n_chunks);
    if (steps == NULL)
        return ridge_fail_nomem(r->cx);
    for (int i = 0; i < r->n_chunks; i++) {
        RIDGE_TRY(ridge__flight_open(r->chunks[i].m, &steps[i]));
        steps[i].tag = -1;
    }
    *out = steps;
    return RIDGE_OK;
}

static ridge_status run_list(ridge__runner *r, ridge__list_kind list)
{
    for (int i = 0; i < r->n_chunks; i++)
        RIDGE_TRY(ridge__machine_run(r->chunks[i].m, &r->steps[i], list));
    return RIDGE_OK;
}

ridge_status ridge__runner_update(ridge__runner *r, const ridge__optimizer *optimizer,
                                  double clip, double *norm)
{
    double square, all;
    if (r->steps == NULL)
        RIDGE_TRY(open_steps(r, &r->steps));
    RIDGE_TRY(run_list(r, RIDGE__LIST_REDUCE));
    RIDGE_TRY(ridge__runner_tie_gradients(r));
    RIDGE_TRY(ridge__runner_sum_copies(r));
    RIDGE_TRY(sum_squares(r, &square));
    RIDGE_TRY(ridge__share_sum(r, square, &all));
    *norm = sqrt(all) * (double)optimizer->scale;
    for (int i = 0; i < r->n_chunks; i++) {
        r->chunks[i].m->optimizer = *optimizer;
        if (clip > 0.0 && *norm > clip)
            r->chunks[i].m->optimizer.scale *= (float)(clip / *norm);
    }
    RIDGE_TRY(run_list(r, RIDGE__LIST_UPDATE));
    RIDGE_TRY(ridge__runner_tie_weights(r));
    for (int i = 0; i < r->n_chunks; i++)
        ridge__flight_close(r->chunks[i].m, &r->steps[i]);
    return RIDGE_OK;
}
