/*
 * Messages between stages: an activation to the next one, its gradient back. An array
 * that was sent is given back once a later message shows that it was received.
 */
#include "runner.h"

/* Messages into a stage: of activations, of gradients. */
static int tag_of(int stage, bool is_gradient)
{
    return 2 * stage + (is_gradient ? 1 : 0);
}

/* Where in a rank's list a pass of a stage stands. */
static int action_index(const ridge__runner *r, int stage, int microbatch,
                        bool is_forward)
{
    const ridge_pipeline_place place =
        ridge_pipeline_place_of(&r->schedule.pipeline, stage);
    const ridge_action_list *list = &r->schedule.ranks[place.rank];
    for (int i = 0; i < list->n; i++) {
        const ridge_action *a = &list->actions[i];
        if (a->chunk == place.chunk && a->microbatch == microbatch &&
            a->pass != RIDGE_PASS_BACKWARD_WEIGHT &&
            (a->pass == RIDGE_PASS_FORWARD) == is_forward)
            return i;
    }
    return list->n;
}

static ridge_status finish_sent(ridge__runner *r, int index)
{
    ridge__sent *s = &r->sent[index];
    RIDGE_TRY(ridge_comm_wait(r->cx, &s->pending));
    r->device->ops->release(r->device, s->array.p);
    r->sent[index] = r->sent[--r->n_sent];
    return RIDGE_OK;
}

/* What a peer received before it made what has come from it now. */
static ridge_status settle_before(ridge__runner *r, int peer, int producer)
{
    for (int i = r->n_sent - 1; i >= 0; i--) {
        if (r->sent[i].peer == peer && r->sent[i].consumer < producer)
            RIDGE_TRY(finish_sent(r, i));
    }
    return RIDGE_OK;
}

ridge_status ridge__runner_settle(ridge__runner *r)
{
    while (r->n_sent > 0)
        RIDGE_TRY(finish_sent(r, 0));
    return RIDGE_OK;
}

static ridge__chunk *chunk_of(ridge__runner *r, const ridge__machine *m)
{
    for (int i = 0; i < r->n_chunks; i++) {
        if (r->chunks[i].m == m)
            return &r->chunks[i];
    }
    return NULL;
}

/* To a stage on this rank: the next receive takes it. */
static ridge_status send_local(ridge__runner *r, const ridge__message *message, int tag)
{
    if (r->n_local == r->sent_most)
        return ridge_fail(r->cx, RIDGE_E_INTERNAL, "too many messages to oneself");
    r->local[r->n_local++] = (ridge__local){message->array, message->elements, tag};
    return RIDGE_OK;
}

ridge_status ridge__runner_send(void *payload, ridge__machine *m,
                                const ridge__flight *flight,
                                const ridge__message *message)
{
    ridge__runner *r = payload;
    const ridge__chunk *c = chunk_of(r, m);
    const int stage = ridge_pipeline_target_of(
        &r->schedule.pipeline, c->place,
        message->is_gradient ? RIDGE_PASS_BACKWARD_INPUT : RIDGE_PASS_FORWARD);
    if (stage < 0)
        return ridge_fail(r->cx, RIDGE_E_INTERNAL, "stage %d has nobody to send to",
                          c->place);
    const int peer = ridge_pipeline_place_of(&r->schedule.pipeline, stage).rank;
    const int tag = tag_of(stage, message->is_gradient);
    ridge__sent s = {.array = message->array, .peer = peer};
    if (peer == r->pipe_rank)
        return send_local(r, message, tag);
    if (r->n_sent == r->sent_most)
        RIDGE_TRY(finish_sent(r, 0));
    s.consumer = action_index(r, stage, flight->tag, !message->is_gradient);
    RIDGE_TRY(
        ridge_send_start(r->cx, r->pipe_comm, ridge__element_of(message->array.dtype),
                         message->elements, peer, tag, message->array.p, &s.pending));
    r->sent[r->n_sent++] = s;
    return RIDGE_OK;
}

static ridge_status receive_local(ridge__runner *r, int tag, ridge__value *v)
{
    for (int i = 0; i < r->n_local; i++) {
        if (r->local[i].tag != tag)
            continue;
        v->p = r->local[i].array.p;
        v->elements = r->local[i].elements;
        v->dtype = r->local[i].array.dtype;
        r->n_local--;
        for (int k = i; k < r->n_local; k++)
            r->local[k] = r->local[k + 1];
        return RIDGE_OK;
    }
    return ridge_fail(r->cx, RIDGE_E_INTERNAL, "no message with tag %d from oneself",
                      tag);
}

ridge_status ridge__runner_receive(ridge__runner *r, ridge__chunk *chunk,
                                   int microbatch, bool is_gradient,
                                   ridge__flight *flight)
{
    const int from = chunk->place + (is_gradient ? 1 : -1);
    const int peer = ridge_pipeline_place_of(&r->schedule.pipeline, from).rank;
    const int tensor = is_gradient ? chunk->stream_gradient : chunk->stream;
    ridge__value *v = &flight->values[chunk->m->unrolled.first_value[tensor]];
    const int tag = tag_of(chunk->place, is_gradient);
    ridge_pending pending;
    if (peer == r->pipe_rank)
        return receive_local(r, tag, v);
    RIDGE_TRY(ridge__value_make(chunk->m, v, tensor));
    RIDGE_TRY(ridge_receive_start(r->cx, r->pipe_comm, ridge__element_of(v->dtype),
                                  v->elements, peer, tag, v->p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    return settle_before(r, peer, action_index(r, from, microbatch, !is_gradient));
}
