/*
 * Whether an order that somebody made is a schedule: nothing missing, nothing twice,
 * nothing before what it needs, and no ranks that wait in a circle.
 */
#include "pipeline_run.h"

/* What has been done of a chunk and a microbatch. */
enum { NOTHING, HELD, HALF_BACK, DONE };

/* What must have been done before a pass, and what it leaves. */
typedef struct pass_row {
    int before, after;
} pass_row;

static const pass_row rows[] = {
    [RIDGE_PASS_FORWARD] = {NOTHING, HELD},
    [RIDGE_PASS_BACKWARD] = {HELD, DONE},
    [RIDGE_PASS_BACKWARD_INPUT] = {HELD, HALF_BACK},
    [RIDGE_PASS_BACKWARD_WEIGHT] = {HALF_BACK, DONE},
};

_Static_assert(RIDGE_COUNT_OF(rows) == RIDGE_PASS_COUNT, "one row per pass");

static bool is_taken(const ridge_pipeline *p, int chunk, int microbatch)
{
    const ridge_microbatch_range range = ridge_pipeline_range_of(p, chunk);
    return microbatch >= range.first && microbatch < range.first + range.n;
}

static ridge_status check_action(ridge_ctx *cx, const ridge_pipeline *p, int rank,
                                 const ridge_action *action, unsigned char *state)
{
    static const char *const wants[] = {
        [NOTHING] = "it comes once, first",
        [HELD] = "it comes once, behind F",
        [HALF_BACK] = "it comes once, behind I",
    };
    if ((unsigned)action->pass >= RIDGE_PASS_COUNT) {
        return ridge_fail(cx, RIDGE_E_ARG, "rank %d: no such pass: %d", rank,
                          (int)action->pass);
    }
    const char *what = ridge_pass_letter(action->pass);
    if (action->chunk < 0 || action->chunk >= p->chunks || action->microbatch < 0 ||
        action->microbatch >= p->microbatches) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "rank %d: %s of chunk %d, microbatch %d: there are %d chunks "
                          "and %d microbatches",
                          rank, what, action->chunk, action->microbatch, p->chunks,
                          p->microbatches);
    }
    if (!is_taken(p, action->chunk, action->microbatch)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "rank %d: %s of chunk %d, microbatch %d: it goes through the "
                          "other chunk",
                          rank, what, action->chunk, action->microbatch);
    }
    unsigned char *at = &state[(size_t)action->chunk * (size_t)p->microbatches +
                               (size_t)action->microbatch];
    const pass_row *row = &rows[action->pass];
    if (*at != row->before) {
        return ridge_fail(
            cx, RIDGE_E_ARG, "rank %d: %s of chunk %d, microbatch %d out of place: %s",
            rank, what, action->chunk, action->microbatch, wants[row->before]);
    }
    *at = (unsigned char)row->after;
    return RIDGE_OK;
}

static ridge_status check_rank(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                               int rank, unsigned char *state, size_t n)
{
    const ridge_pipeline *p = &schedule->pipeline;
    const ridge_action_list *list = &schedule->ranks[rank];
    for (size_t i = 0; i < n; i++)
        state[i] = NOTHING;
    for (int i = 0; i < list->n; i++)
        RIDGE_TRY(check_action(cx, p, rank, &list->actions[i], state));
    for (size_t i = 0; i < n; i++) {
        const size_t m = (size_t)p->microbatches;
        if (state[i] != DONE && is_taken(p, (int)(i / m), (int)(i % m))) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "rank %d: chunk %d, microbatch %d is left %s: add it",
                              rank, (int)(i / m), (int)(i % m),
                              state[i] == NOTHING ? "without F"
                              : state[i] == HELD  ? "without B, or I and W"
                                                  : "without W");
        }
    }
    return RIDGE_OK;
}

ridge_status ridge_pipeline_schedule_check(ridge_ctx *cx,
                                           const ridge_pipeline_schedule *schedule)
{
    const ridge_pipeline *p = &schedule->pipeline;
    RIDGE_TRY(ridge_pipeline_check(cx, p));
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const size_t n = (size_t)p->chunks * (size_t)p->microbatches;
    unsigned char *state = ridge_new(scratch, unsigned char, n);
    ridge_status st = state == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
    for (int rank = 0; st == RIDGE_OK && rank < p->ranks; rank++)
        st = check_rank(cx, schedule, rank, state, n);
    ridge_arena_rewind(scratch, mark);

    bool is_through;
    return st == RIDGE_OK ? ridge__run_try(cx, schedule, false, 0, &is_through) : st;
}
