/* Ranks that fail, disagree, stop too early or not at all. */
#include "comm_faults.h"

#include <sched.h>
#include <string.h>

enum { N = 100 };

static ridge_status sum(ridge_ctx *cx, ridge_comm *comm, int64_t n)
{
    float src[N] = {0}, dst[N];
    ridge_pending pending;
    RIDGE_TRY(ridge_all_reduce_start(cx, comm, RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM, n,
                                     src, dst, &pending));
    return ridge_comm_wait(cx, &pending);
}

static ridge_status gather(ridge_ctx *cx, ridge_comm *comm, ridge_element element)
{
    static const ridge_cut cut = {1, 2, 1};
    float src[N] = {0}, dst[N];
    ridge_pending pending;
    RIDGE_TRY(ridge_all_gather_start(cx, comm, element, &cut, src, dst, &pending));
    return ridge_comm_wait(cx, &pending);
}

/** Rank 1 calls something else, of another size, of other elements. */
static ridge_status other_kind(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    RIDGE_TRY(sum(cx, world, 7));
    return ridge_comm_rank(world) == 1 ? gather(cx, world, RIDGE_ELEMENT_F32)
                                       : sum(cx, world, 7);
}

static ridge_status other_size(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    return sum(cx, world, ridge_comm_rank(world) == 1 ? 8 : 7);
}

static ridge_status other_element(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    return gather(cx, world,
                  ridge_comm_rank(world) == 1 ? RIDGE_ELEMENT_BF16 : RIDGE_ELEMENT_F32);
}

/** Rank 0 believes that it gets a row more than rank 1 sends. */
static ridge_status other_rows(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    int32_t send[RIDGE_RANK_MAX] = {0}, receive[RIDGE_RANK_MAX] = {0};
    float src[N] = {0}, dst[N];
    if (ridge_comm_rank(world) == 1)
        send[0] = 2;
    if (ridge_comm_rank(world) == 0)
        receive[1] = 3;
    ridge_pending pending;
    RIDGE_TRY(ridge_all_to_all_ragged_start(cx, world, RIDGE_ELEMENT_F32, 4, send,
                                            receive, src, dst, &pending));
    return ridge_comm_wait(cx, &pending);
}

/** Rank 1 sends 3 elements to rank 0, which receives 4. */
static ridge_status other_message(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    float x[N] = {0};
    ridge_pending pending = {0};
    if (ridge_comm_rank(world) == 1)
        RIDGE_TRY(ridge_send_start(cx, world, RIDGE_ELEMENT_F32, 3, 0, 5, x, &pending));
    if (ridge_comm_rank(world) == 0)
        RIDGE_TRY(
            ridge_receive_start(cx, world, RIDGE_ELEMENT_F32, 4, 1, 5, x, &pending));
    return ridge_comm_wait(cx, &pending);
}

/** One rank fails while the others wait for it. */
static ridge_status one_fails(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    comm_fault_state *state = payload;
    ridge_status st = sum(cx, world, N);
    if (st == RIDGE_OK && ridge_comm_rank(world) == 1)
        return ridge_fail(cx, RIDGE_E_PARSE, "the flour has run out: buy more");
    if (st == RIDGE_OK)
        st = sum(cx, world, N);
    if (st == RIDGE_E_IO)
        atomic_fetch_add(&state->stopped, 1);
    return st;
}

/** One gives up with a call under way, whose buffers it then frees. */
static ridge_status one_gives_up(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    float *src = ridge_new(ridge_ctx_scratch(cx), float, N);
    float *dst = ridge_new(ridge_ctx_scratch(cx), float, N);
    if (src == NULL || dst == NULL)
        return ridge_fail_nomem(cx);
    ridge_pending pending;
    RIDGE_TRY(ridge_all_reduce_start(cx, world, RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM, N,
                                     src, dst, &pending));
    ridge_status st = RIDGE_OK;
    if (ridge_comm_rank(world) == 1) {
        ridge_comm_abandon(world);
        st = ridge_fail(cx, RIDGE_E_NOMEM, "no room for the dough: use a larger bowl");
    } else {
        st = ridge_comm_wait(cx, &pending);
    }
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    return st == RIDGE_OK ? sum(cx, world, N) : st;
}

/** All fail with the same words: told of rank 0. */
static ridge_status all_fail(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    (void)world;
    return ridge_fail(cx, RIDGE_E_ARG, "the mesh has 9 ranks: take fewer");
}

/** Rank 1 computes for ever (until it is released), while others wait for it. */
static ridge_status one_is_stuck(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    comm_fault_state *state = payload;
    RIDGE_TRY(sum(cx, world, N));
    while (ridge_comm_rank(world) == 1 && !atomic_load(&state->is_released))
        sched_yield();
    return sum(cx, world, N);
}

/** Rank 1 goes on for ever when others have ended. */
static ridge_status one_goes_on(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    comm_fault_state *state = payload;
    RIDGE_TRY(sum(cx, world, N));
    while (ridge_comm_rank(world) == 1 && !atomic_load(&state->is_released))
        sched_yield();
    return RIDGE_OK;
}

/** Rank 1 waits for a message that is never sent. */
static ridge_status no_message(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    float x;
    ridge_pending pending = {0};
    if (ridge_comm_rank(world) == 1)
        RIDGE_TRY(
            ridge_receive_start(cx, world, RIDGE_ELEMENT_F32, 1, 0, 3, &x, &pending));
    RIDGE_TRY(ridge_comm_wait(cx, &pending));
    return sum(cx, world, N);
}

static ridge_status one_ends_early(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    return ridge_comm_rank(world) == 1 ? RIDGE_OK : sum(cx, world, N);
}

static ridge_status one_does_not_wait(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    static const float src[N]; /* outlives the function */
    float *dst = ridge_new(ridge_ctx_arena(cx), float, N);
    if (dst == NULL)
        return ridge_fail_nomem(cx);
    ridge_pending pending;
    RIDGE_TRY(ridge_all_reduce_start(cx, world, RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM, N,
                                     src, dst, &pending));
    return ridge_comm_rank(world) == 1 ? RIDGE_OK : ridge_comm_wait(cx, &pending);
}

/* clang-format off */
const comm_fault comm_faults[] = {
    {"other-kind", other_kind, 2, 20, "rank 0 calls all-reduce of 7 f32, rank 1 all-gather of f32 [1, 2, 1]: "},
    {"other-size", other_size, 2, 20, "rank 0 calls all-reduce of 7 f32, rank 1 all-reduce of 8 f32: "},
    {"other-element", other_element, 2, 20, "rank 0 calls all-gather of f32 [1, 2, 1], rank 1 all-gather of bf16 "},
    {"other-rows", other_rows, 5, 20, "rank 1 sends 2 rows in ragged all-to-all to rank 0, which receives 3: "},
    {"other-message", other_message, 5, 20, "rank 1 starts a send of 3 f32 to rank 0 with tag 5, which starts a receive of 4 f32"},
    {"fails", one_fails, 5, 20, "rank 1: the flour has run out: buy more"},
    {"gives-up", one_gives_up, 5, 20, "rank 1: no room for the dough"},
    {"all-fail", all_fail, 5, 20, "rank 0: the mesh has 9 ranks"},
    {"stuck", one_is_stuck, 5, 0.3, " has waited 0.3 s for rank 1 in all-reduce: "},
    {"goes-on", one_goes_on, 5, 0.3, "rank 1: it has run on for 0.3 s after "},
    {"no-message", no_message, 5, 0.3, " has waited 0.3 s for rank "},
    {"ends-early", one_ends_early, 5, 20, " waits for rank 1 in all-reduce, but that has ended: "},
    {"does-not-wait", one_does_not_wait, 5, 20, "rank 1: it has ended with all-reduce under way"},
};
/* clang-format on */

const int comm_fault_count = (int)RIDGE_COUNT_OF(comm_faults);

const comm_fault *comm_fault_find(const char *name)
{
    for (int i = 0; i < comm_fault_count; i++) {
        if (strcmp(comm_faults[i].name, name) == 0)
            return &comm_faults[i];
    }
    return NULL;
}
