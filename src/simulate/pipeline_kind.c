/*
 * Kinds of pipeline schedules and passes: their names, which pipelines they take and
 * where virtual stages lie.
 */
#include "ridge/simulate.h"

#include <limits.h>
#include <string.h>

typedef struct kind_row {
    const char *text;
    const char *what;
} kind_row;

static const kind_row kinds[] = {
#define KIND_ROW(name, text, what) [RIDGE_SCHEDULE_##name] = {text, what},
    RIDGE_SCHEDULE_LIST(KIND_ROW)
#undef KIND_ROW
};

_Static_assert(RIDGE_COUNT_OF(kinds) == RIDGE_SCHEDULE_COUNT, "one row per kind");

static const kind_row passes[] = {
#define PASS_ROW(name, letter, what) [RIDGE_PASS_##name] = {letter, what},
    RIDGE_PASS_LIST(PASS_ROW)
#undef PASS_ROW
};

_Static_assert(RIDGE_COUNT_OF(passes) == RIDGE_PASS_COUNT, "one row per pass");

/* ---- names --------------------------------------------------------------------- */

const char *ridge_schedule_text(ridge_schedule kind)
{
    return kinds[kind].text;
}

const char *ridge_schedule_what(ridge_schedule kind)
{
    return kinds[kind].what;
}

const char *ridge_pass_letter(ridge_pass pass)
{
    return passes[pass].text;
}

const char *ridge_pass_what(ridge_pass pass)
{
    return passes[pass].what;
}

ridge_status ridge_schedule_parse(ridge_ctx *cx, const char *text, ridge_schedule *out)
{
    const char *names[RIDGE_SCHEDULE_COUNT];
    for (int i = 0; i < RIDGE_SCHEDULE_COUNT; i++) {
        names[i] = kinds[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_schedule)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_NOTFOUND, "pipeline schedule", text, names,
                           RIDGE_SCHEDULE_COUNT);
}

bool ridge_schedule_is_split(ridge_schedule kind)
{
    switch (kind) {
    case RIDGE_SCHEDULE_GPIPE:
    case RIDGE_SCHEDULE_1F1B:
    case RIDGE_SCHEDULE_INTERLEAVED:
        return false;
    case RIDGE_SCHEDULE_ZB_H1:
    case RIDGE_SCHEDULE_ZB_H2:
    case RIDGE_SCHEDULE_ZB_V:
    case RIDGE_SCHEDULE_DUALPIPE:
        return true;
    }
    return false;
}

/* ---- pipelines ----------------------------------------------------------------- */

static bool is_folded(const ridge_pipeline *p)
{
    return p->kind == RIDGE_SCHEDULE_ZB_V || p->kind == RIDGE_SCHEDULE_DUALPIPE;
}

/* Ranks in pairs, and microbatches enough that both ways are full at once. */
static ridge_status check_dual(ridge_ctx *cx, const ridge_pipeline *p)
{
    if (p->chunks != 2)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "dualpipe with %d chunks a rank: it has two, one each way; "
                          "take 2",
                          p->chunks);
    if (p->ranks % 2 != 0)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "dualpipe on %d ranks: they work in pairs; take an even number", p->ranks);
    if (p->microbatches % 2 != 0 || p->microbatches / 2 < p->ranks)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "dualpipe with %d microbatches: half of them go each way; take "
            "an even number, at least %lld",
            p->microbatches, 2 * (long long)p->ranks);
    return RIDGE_OK;
}

static ridge_status check_chunks(ridge_ctx *cx, const ridge_pipeline *p)
{
    switch (p->kind) {
    case RIDGE_SCHEDULE_INTERLEAVED:
        return RIDGE_OK;
    case RIDGE_SCHEDULE_ZB_V:
        if (p->chunks == 2)
            return RIDGE_OK;
        return ridge_fail(cx, RIDGE_E_ARG,
                          "zb-v with %d chunks a rank: its V has two, one down and one "
                          "up; take 2",
                          p->chunks);
    case RIDGE_SCHEDULE_DUALPIPE:
        return check_dual(cx, p);
    case RIDGE_SCHEDULE_GPIPE:
    case RIDGE_SCHEDULE_1F1B:
    case RIDGE_SCHEDULE_ZB_H1:
    case RIDGE_SCHEDULE_ZB_H2:
        if (p->chunks == 1)
            return RIDGE_OK;
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s with %d chunks a rank: it has one stage a rank; take 1, "
                          "or interleaved for more",
                          kinds[p->kind].text, p->chunks);
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no such pipeline schedule: %d", (int)p->kind);
}

ridge_status ridge_pipeline_check(ridge_ctx *cx, const ridge_pipeline *p)
{
    const int numbers[] = {p->ranks, p->chunks, p->microbatches};
    static const char *const names[] = {"ranks", "chunks a rank", "microbatches"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers); i++) {
        if (numbers[i] < 1) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "a pipeline with %d %s: it takes at least 1", numbers[i],
                              names[i]);
        }
    }
    RIDGE_TRY(check_chunks(cx, p));

    enum { PASSES_MOST = 3 };
    if ((int64_t)p->ranks * p->chunks > RIDGE_PIPELINE_STAGES_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a pipeline of %d ranks with %d chunks each: take at most %d "
                          "chunks in all",
                          p->ranks, p->chunks, RIDGE_PIPELINE_STAGES_MAX);
    }
    if ((int64_t)p->chunks * p->microbatches >= INT_MAX / PASSES_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%d microbatches through %d chunks a rank are too many to "
                          "list: take fewer",
                          p->microbatches, p->chunks);
    }
    return RIDGE_OK;
}

/* ---- where stages lie ---------------------------------------------------------- */

int ridge_pipeline_stage_of(const ridge_pipeline *p, ridge_pipeline_place place)
{
    if (is_folded(p) && place.chunk == 1)
        return 2 * p->ranks - 1 - place.rank;
    return place.chunk * p->ranks + place.rank;
}

ridge_pipeline_place ridge_pipeline_place_of(const ridge_pipeline *p, int stage)
{
    ridge_pipeline_place place = {.rank = stage % p->ranks, .chunk = stage / p->ranks};
    if (is_folded(p) && place.chunk == 1)
        place.rank = p->ranks - 1 - place.rank;
    return place;
}

ridge_microbatch_range ridge_pipeline_range_of(const ridge_pipeline *p, int chunk)
{
    const int half = p->microbatches / 2;
    if (p->kind != RIDGE_SCHEDULE_DUALPIPE)
        return (ridge_microbatch_range){0, p->microbatches};
    return (ridge_microbatch_range){chunk == 0 ? 0 : half, half};
}

/* ---- messages ------------------------------------------------------------------ */

/* Stages from one that makes a message to the one that needs it; 0: nobody does. */
static int step_of(ridge_pass pass)
{
    switch (pass) {
    case RIDGE_PASS_FORWARD:
        return 1;
    case RIDGE_PASS_BACKWARD:
    case RIDGE_PASS_BACKWARD_INPUT:
        return -1;
    case RIDGE_PASS_BACKWARD_WEIGHT:
        return 0;
    }
    return 0;
}

static int neighbour(const ridge_pipeline *p, int stage, int step)
{
    const int n = p->kind == RIDGE_SCHEDULE_DUALPIPE ? p->ranks : p->ranks * p->chunks;
    const int at = stage % n + step; /* within one copy of the model */
    return step == 0 || at < 0 || at >= n ? -1 : stage + step;
}

int ridge_pipeline_target_of(const ridge_pipeline *p, int stage, ridge_pass pass)
{
    return neighbour(p, stage, step_of(pass));
}

int ridge_pipeline_source_of(const ridge_pipeline *p, int stage, ridge_pass pass)
{
    return neighbour(p, stage, -step_of(pass));
}

bool ridge_pipeline_is_remote(const ridge_pipeline *p, int stage, int other)
{
    return ridge_pipeline_place_of(p, stage).rank !=
           ridge_pipeline_place_of(p, other).rank;
}
