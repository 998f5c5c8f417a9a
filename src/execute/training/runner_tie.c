/*
 * An embedding that also makes the logits is on the first stage of a pipeline and on
 * the last. The first updates it: the last sends its gradient there once a step, and
 * gets the new weight back. Where a pipeline has two copies of its stages, each copy
 * does so for itself.
 * @source narayanan2021 section 4 (embeddings of the first and last stage)
 */
#include "runner.h"

enum { TIED_TAG = 1 << 20 };

/* An array of this rank that goes to another stage, or comes from it. */
typedef struct parcel {
    ridge__value *value;
    int rank; /* of the pipeline, on the other side */
} parcel;

/* The ends of one copy of the stages. */
typedef struct ends {
    int first_rank, last_rank;  /* of the pipeline */
    ridge__chunk *first, *last; /* NULL: not on this rank */
} ends;

static int rank_of(const ridge__runner *r, int place)
{
    return ridge_pipeline_place_of(&r->schedule.pipeline, place).rank;
}

static ridge__chunk *chunk_at(ridge__runner *r, int place)
{
    for (int i = 0; i < r->n_chunks; i++) {
        if (r->chunks[i].place == place)
            return &r->chunks[i];
    }
    return NULL;
}

static ends ends_of(ridge__runner *r, int copy)
{
    const int stages = ridge__layout_stages(r->layout);
    const int first = copy * stages, last = first + stages - 1;
    return (ends){rank_of(r, first), rank_of(r, last), chunk_at(r, first),
                  chunk_at(r, last)};
}

static bool is_tied(const ridge__runner *r)
{
    return ridge__layout_stages(r->layout) > 1 && ridge__runner_is_tied(r);
}

static ridge_status send(ridge__runner *r, const parcel *p)
{
    ridge_pending pending;
    RIDGE_TRY(r->device->ops->finish(r->device));
    RIDGE_TRY(ridge_send_start(r->cx, r->pipe_comm, ridge__element_of(p->value->dtype),
                               p->value->elements, p->rank, TIED_TAG, p->value->p,
                               &pending));
    return ridge_comm_wait(r->cx, &pending);
}

static ridge_status receive(ridge__runner *r, const parcel *p, bool is_added)
{
    ridge__device *d = r->device;
    ridge__value came = *p->value;
    ridge_pending pending;
    const size_t bytes = (size_t)came.elements * (size_t)ridge_dtype_bytes(came.dtype);
    RIDGE_TRY(d->ops->alloc(d, bytes, &came.p));
    RIDGE_TRY(ridge_receive_start(r->cx, r->pipe_comm, ridge__element_of(came.dtype),
                                  came.elements, p->rank, TIED_TAG, came.p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    RIDGE_TRY(ridge__runner_copy_value(r, &came, p->value, is_added));
    d->ops->release(d, came.p);
    return RIDGE_OK;
}

/* From one end of the pipeline to the other; on one rank it is a copy. */
static ridge_status carry(ridge__runner *r, const parcel *from, const parcel *to,
                          bool is_added)
{
    if (from->value && to->value)
        return ridge__runner_copy_value(r, from->value, to->value, is_added);
    if (from->value)
        return send(r, from);
    return to->value ? receive(r, to, is_added) : RIDGE_OK;
}

/* The gradient that the first stage's update reads. */
static ridge__value *updated_gradient(ridge__chunk *c, ridge__flight *step)
{
    const ridge__list *list = &c->m->unrolled.lists[RIDGE__LIST_UPDATE];
    for (int i = 0; i < list->n; i++) {
        const ridge_operation *op = &c->m->program->ops[list->at[i].op];
        if (op->code == RIDGE_OPCODE_UPDATE &&
            c->m->partition->copy_of[op->inputs[0]] == c->tied)
            return ridge__machine_value(c->m, step, list->at[i].in[1]);
    }
    return NULL;
}

static ridge_status tie_gradients(ridge__runner *r, const ends *e)
{
    parcel from = {.rank = e->first_rank}, to = {.rank = e->last_rank};
    if (e->last && e->last->tied_to >= 0)
        from.value =
            ridge__machine_value(e->last->m, &r->steps[e->last - r->chunks],
                                 e->last->m->unrolled.first_value[e->last->tied_to]);
    if (e->first && e->first->tied_from >= 0)
        to.value = updated_gradient(e->first, &r->steps[e->first - r->chunks]);
    return carry(r, &from, &to, true);
}

static ridge__value *tied_weight(ridge__chunk *c)
{
    return c && c->tied >= 0 ? &c->m->fixed[c->m->unrolled.first_value[c->tied]] : NULL;
}

ridge_status ridge__runner_tie_gradients(ridge__runner *r)
{
    const int copies = is_tied(r) ? ridge__layout_copies(r->layout) : 0;
    for (int i = 0; i < copies; i++) {
        const ends e = ends_of(r, i);
        RIDGE_TRY(tie_gradients(r, &e));
    }
    return RIDGE_OK;
}

ridge_status ridge__runner_tie_weights(ridge__runner *r)
{
    const int copies = is_tied(r) ? ridge__layout_copies(r->layout) : 0;
    for (int i = 0; i < copies; i++) {
        const ends e = ends_of(r, i);
        const parcel from = {tied_weight(e.first), e.last_rank};
        const parcel to = {tied_weight(e.last), e.first_rank};
        RIDGE_TRY(carry(r, &from, &to, false));
    }
    return RIDGE_OK;
}
