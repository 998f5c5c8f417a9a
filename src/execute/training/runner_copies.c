/*
 * Two copies of a pipeline's stages (dualpipe): a rank and its mirror image hold the
 * same two stages, of which microbatches go through one each way. Their gradients are
 * added up once a step, and both ranks make the same update.
 * @source deepseek-v3-2024 section 3.2.1
 */
#include "runner.h"

enum { COPY_TAG = 1 << 22 };

int ridge__layout_copies(const ridge_run_layout *layout)
{
    return layout->schedule == RIDGE_SCHEDULE_DUALPIPE ? 2 : 1;
}

int ridge__layout_stages(const ridge_run_layout *layout)
{
    return layout->pp * layout->vpp / ridge__layout_copies(layout);
}

/* Both ranks give theirs and add the other's: a sum of two is the same either way. */
static ridge_status exchange(ridge__runner *r, const ridge__updated *u, void *payload)
{
    const int mirror = *(const int *)payload;
    ridge__device *d = r->device;
    ridge__value came = *u->value;
    const ridge_element element = ridge__element_of(came.dtype);
    const size_t bytes = (size_t)came.elements * (size_t)ridge_dtype_bytes(came.dtype);
    ridge_pending sent, received;
    RIDGE_TRY(d->ops->alloc(d, bytes, &came.p));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_send_start(r->cx, r->pipe_comm, element, came.elements, mirror,
                               COPY_TAG, u->value->p, &sent));
    RIDGE_TRY(ridge_receive_start(r->cx, r->pipe_comm, element, came.elements, mirror,
                                  COPY_TAG, came.p, &received));
    RIDGE_TRY(ridge_comm_wait(r->cx, &received));
    RIDGE_TRY(ridge_comm_wait(r->cx, &sent));
    RIDGE_TRY(ridge__runner_copy_value(r, &came, u->value, true));
    d->ops->release(d, came.p);
    return RIDGE_OK;
}

ridge_status ridge__runner_sum_copies(ridge__runner *r)
{
    int mirror = r->layout->pp - 1 - r->pipe_rank;
    if (ridge__layout_copies(r->layout) == 1)
        return RIDGE_OK;
    /* The lower stage first, on both ranks: they exchange the same at a time. */
    const int lower = r->chunks[0].stage < r->chunks[1].stage ? 0 : 1;
    RIDGE_TRY(ridge__chunk_each_update(r, &r->chunks[lower], exchange, &mirror));
    return ridge__chunk_each_update(r, &r->chunks[1 - lower], exchange, &mirror);
}
