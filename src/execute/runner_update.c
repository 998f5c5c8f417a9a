/*
 * The end of a step: gradients reduced, those of a weight that two stages hold added
 * up, clipped by their global norm, and weights updated.
 * @source pascanu2013 (clipping)
 */
#include "runner.h"

#include <math.h>
#include <string.h>

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

/* Each update of the step: its weight and the gradient that it reads. */
typedef struct gradient {
    ridge__chunk *chunk;
    int weight, tensor; /* tensors */
    ridge__value *value;
} gradient;

typedef ridge_status visit_fn(ridge__runner *r, const gradient *g, void *payload);

static ridge_status each_gradient(ridge__runner *r, ridge__flight *steps,
                                  visit_fn *visit, void *payload)
{
    for (int i = 0; i < r->n_chunks; i++) {
        ridge__machine *m = r->chunks[i].m;
        const ridge__list *list = &m->unrolled.lists[RIDGE__LIST_UPDATE];
        for (int k = 0; k < list->n; k++) {
            const ridge__instruction *at = &list->at[k];
            const ridge_operation *op = &m->program->ops[at->op];
            if (op->code != RIDGE_OPCODE_UPDATE)
                continue;
            const gradient g = {&r->chunks[i], op->inputs[0], op->inputs[1],
                                ridge__machine_value(m, &steps[i], at->in[1])};
            RIDGE_TRY(visit(r, &g, payload));
        }
    }
    return RIDGE_OK;
}

static ridge_status add_square(ridge__runner *r, const gradient *g, void *payload)
{
    double *sum = payload, square;
    const ridge__array x = {g->value->p, g->value->dtype};
    if (ridge__tensor_is_tied(r, g->chunk, g->weight))
        return RIDGE_OK;
    RIDGE_TRY(
        r->device->ops->sum_of_squares(r->device, x, g->value->elements, &square));
    *sum += square / (double)ridge__tensor_replicas(g->chunk->m, g->tensor);
    return RIDGE_OK;
}

/* ---- tied weights ------------------------------------------------------------------
 */

typedef struct tied {
    int n;
    gradient at[2]; /* of the first stage, of the last: those that are here */
} tied;

static ridge_status find_tied(ridge__runner *r, const gradient *g, void *payload)
{
    tied *t = payload;
    const ridge_program *p = g->chunk->m->program;
    const char *base = ridge_tensor_base(&p->tensors[g->weight]);
    const int last = r->layout->pp * r->layout->vpp - 1;
    const bool is_end = g->chunk->stage == 0 || g->chunk->stage == last;
    if (is_end && strcmp(base, "embedding") == 0 && t->n < 2)
        t->at[t->n++] = *g;
    return RIDGE_OK;
}

static ridge_status add_to(ridge__runner *r, const ridge__value *to, ridge__array x)
{
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {to->elements},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = x,
                              .y = {to->p, to->dtype},
                              .is_added = true};
    return r->device->ops->copy(r->device, &copy);
}

static ridge_status swap_and_add(ridge__runner *r, const gradient *g, int peer)
{
    enum { TIED_TAG = 1 << 20 };
    ridge__device *d = r->device;
    ridge__array other = {.dtype = g->value->dtype};
    const ridge_element element = ridge__element_of(other.dtype);
    const int64_t n = g->value->elements;
    ridge_pending out, in;
    RIDGE_TRY(
        d->ops->alloc(d, (size_t)n * (size_t)ridge_dtype_bytes(other.dtype), &other.p));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_send_start(r->cx, r->pipe_comm, element, n, peer, TIED_TAG,
                               g->value->p, &out));
    RIDGE_TRY(ridge_receive_start(r->cx, r->pipe_comm, element, n, peer, TIED_TAG,
                                  other.p, &in));
    RIDGE_TRY(ridge_comm_wait(r->cx, &in));
    RIDGE_TRY(ridge_comm_wait(r->cx, &out));
    RIDGE_TRY(add_to(r, g->value, other));
    d->ops->release(d, other.p);
    return RIDGE_OK;
}

ridge_status ridge__runner_tie(ridge__runner *r, ridge__flight *steps)
{
    const int last = r->layout->pp * r->layout->vpp - 1;
    const int first_rank = ridge_pipeline_place_of(&r->schedule.pipeline, 0).rank;
    const int last_rank = ridge_pipeline_place_of(&r->schedule.pipeline, last).rank;
    tied t = {.n = 0};
    RIDGE_TRY(each_gradient(r, steps, find_tied, &t));
    if (last == 0 || t.n == 0 || !ridge__runner_is_tied(r))
        return RIDGE_OK;
    if (first_rank != last_rank)
        return swap_and_add(r, &t.at[0],
                            r->pipe_rank == first_rank ? last_rank : first_rank);
    const ridge__array x = {t.at[1].value->p, t.at[1].value->dtype};
    RIDGE_TRY(add_to(r, t.at[0].value, x));
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {t.at[0].value->elements},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = {t.at[0].value->p, t.at[0].value->dtype},
                              .y = x};
    return r->device->ops->copy(r->device, &copy);
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
    double square = 0.0, all;
    if (r->steps == NULL)
        RIDGE_TRY(open_steps(r, &r->steps));
    RIDGE_TRY(run_list(r, RIDGE__LIST_REDUCE));
    RIDGE_TRY(ridge__runner_tie(r, r->steps));
    RIDGE_TRY(each_gradient(r, r->steps, add_square, &square));
    RIDGE_TRY(ridge__share_sum(r, square, &all));
    *norm = sqrt(all) * (double)optimizer->scale;
    for (int i = 0; i < r->n_chunks; i++) {
        r->chunks[i].m->optimizer = *optimizer;
        if (clip > 0.0 && *norm > clip)
            r->chunks[i].m->optimizer.scale *= (float)(clip / *norm);
    }
    RIDGE_TRY(run_list(r, RIDGE__LIST_UPDATE));
    for (int i = 0; i < r->n_chunks; i++)
        ridge__flight_close(r->chunks[i].m, &r->steps[i]);
    return RIDGE_OK;
}
