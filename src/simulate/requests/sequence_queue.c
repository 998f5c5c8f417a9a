/* Places of sequences, and the queues in which they wait. */
#include "sequence_room.h"

#include <string.h>

enum { FIRST_ROOM = 64 };

static ridge_status grow(serving_play *p)
{
    const int32_t room = p->room_sequences > 0 ? 2 * p->room_sequences : FIRST_ROOM;
    ridge_arena *arena = ridge_ctx_scratch(p->cx);
    play_sequence *more = ridge_new(arena, play_sequence, (size_t)room);
    int32_t *spare = ridge_new(arena, int32_t, (size_t)room);
    if (more == NULL || spare == NULL)
        return ridge_fail_nomem(p->cx);
    if (p->n_sequences > 0)
        memcpy(more, p->sequences, (size_t)p->n_sequences * sizeof *more);
    p->sequences = more;
    p->sequence_places = &more[0].heap_at;
    p->spare = spare;
    p->n_spare = 0;
    p->room_sequences = room;
    return RIDGE_OK;
}

ridge_status ridge__sequence_new(serving_play *p, int32_t *out)
{
    if (p->n_spare > 0) {
        *out = p->spare[--p->n_spare];
    } else {
        if (p->n_sequences == p->room_sequences)
            RIDGE_TRY(grow(p));
        *out = p->n_sequences++;
    }
    p->sequences[*out] = (play_sequence){
        .from_unit = -1, .heap_at = -1, .start_s = -1, .first_s = -1, .gave_way_s = -1};
    return RIDGE_OK;
}

/* ---- hashes ---------------------------------------------------------------------- */

static int size_of(int64_t n)
{
    int size = 0;
    while (((int64_t)1 << size) < n)
        size++;
    return size;
}

ridge_status ridge__sequence_keep_hashes(serving_play *p, int32_t sequence)
{
    ridge_request *what = &p->sequences[sequence].what;
    if (what->n_hashes == 0)
        return RIDGE_OK;
    const int size = size_of(what->n_hashes);
    if (size >= HASH_SIZES) {
        what->n_hashes = 0;
        return RIDGE_OK;
    }
    uint64_t *copy = p->hash_spare[size];
    if (copy != NULL)
        memcpy(&p->hash_spare[size], copy, sizeof(uint64_t *));
    else
        copy = ridge_new(ridge_ctx_scratch(p->cx), uint64_t, (size_t)1 << size);
    if (copy == NULL)
        return ridge_fail_nomem(p->cx);
    memcpy(copy, what->hashes, (size_t)what->n_hashes * sizeof *copy);
    what->hashes = copy;
    return RIDGE_OK;
}

void ridge__sequence_free(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    if (s->what.n_hashes > 0) {
        const int size = size_of(s->what.n_hashes);
        uint64_t *copy = (uint64_t *)(uintptr_t)s->what.hashes;
        memcpy(copy, &p->hash_spare[size], sizeof(uint64_t *));
        p->hash_spare[size] = copy;
    }
    s->state = SEQUENCE_FREE;
    p->spare[p->n_spare++] = sequence;
}

/* ---- queues ---------------------------------------------------------------------- */

static heap_key key_of(ridge_queue_policy policy, const play_sequence *s)
{
    switch (policy) {
    case RIDGE_QUEUE_SHORTEST:
        return (heap_key){(double)s->what.prompt_tokens, s->number};
    case RIDGE_QUEUE_PRIORITY:
        return (heap_key){(double)s->what.priority, s->number};
    case RIDGE_QUEUE_FCFS:
    case RIDGE_QUEUE_DECODE_FIRST:
        break;
    }
    return (heap_key){(double)s->number, 0};
}

ridge_status ridge__sequence_queue(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    play_rank *rank = &p->units[s->unit].ranks[s->rank];
    if (s->state != SEQUENCE_SWAPPED)
        s->state = SEQUENCE_WAITING;
    if (!ridge__heap_push(&rank->waiting, key_of(p->deployment->queue, s), sequence))
        return ridge_fail_nomem(p->cx);
    ridge__tally_waiting(p->tally, p->now_s, ++p->waiting);
    return RIDGE_OK;
}

void ridge__sequence_unqueue(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    play_rank *rank = &p->units[s->unit].ranks[s->rank];
    ridge__heap_remove(&rank->waiting, s->heap_at);
    ridge__tally_waiting(p->tally, p->now_s, --p->waiting);
}
