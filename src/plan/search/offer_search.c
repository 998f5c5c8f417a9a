/*
 * Slices compared: one search after the other, each on all processors, in a request of
 * its own, so that its memory is given back. Where the sizes of a kind are open, those
 * between the last that does not do and the first that does are tried too.
 */
#include "ridge/plan_offer.h"

#include "offer_guess.h"
#include "offer_sizes.h"
#include "state_room.h"

#include <math.h>
#include <stdlib.h>

enum { BETWEEN_MOST = 7, ROUNDS_MOST = 2 };

typedef struct offer_desk {
    ridge_ctx *cx;
    const ridge_catalog *catalog;
    const ridge_offer_request *q;
    int n;
    ridge_offer *offers; /* [RIDGE_OFFER_MAX] */
    int64_t covered;
    double share; /* of the work, as far as it can be told */
} offer_desk;

/* ---- one slice --------------------------------------------------------------------
 */

static ridge_offer_fit judge(const ridge_offer_request *q, const ridge_offer *o)
{
    if (o->money.is_stuck)
        return RIDGE_OFFER_STUCK;
    if (q->deadline_s > 0 && o->money.days * RIDGE_DAY_S > q->deadline_s)
        return RIDGE_OFFER_LATE;
    return isinf(o->score) ? RIDGE_OFFER_UNKNOWN : RIDGE_OFFER_OK;
}

static void take(const ridge_offer_request *q, const ridge_train_price *price,
                 ridge_offer *o)
{
    o->best = *price;
    o->money = ridge_train_money(&o->request, price, &q->kinds[o->kind].money);
    o->score = ridge_offer_score(o, q->goal);
    o->fit = judge(q, o);
}

/* The layout of least memory that is hardly slower than the fastest, and in time. */
static void take_smallest(const ridge_offer_request *q,
                          const ridge_train_result *result, ridge_offer *o)
{
    const double most_s = result->layouts[0].step_time_s * (1 + q->slack);
    for (int i = 0; i < result->n_front; i++) {
        const ridge_train_price *price = &result->front[i];
        ridge_offer other = *o;
        if (price->step_time_s > most_s ||
            price->peak_memory_bytes >= o->best.peak_memory_bytes)
            continue;
        take(q, price, &other);
        if (other.fit <= o->fit)
            *o = other;
    }
}

/* From what the slices before it found. */
static ridge_status search_slice(ridge_ctx *cx, const offer_desk *desk,
                                 const ridge_offer *o, ridge_train_result *result)
{
    int n = 0;
    known_layout *known =
        ridge_new(ridge_ctx_scratch(cx), known_layout, (size_t)desk->n + 1);
    if (known == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < desk->n; i++) {
        const ridge_offer *other = &desk->offers[i];
        if (other->fit != RIDGE_OFFER_NONE && other->fit != RIDGE_OFFER_REFUSED)
            known[n++] = (known_layout){other->request.slice, other->best.layout};
    }
    return offer_search_knowing(cx, &o->request, known, n, result);
}

static ridge_status search(ridge_ctx *cx, offer_desk *desk, ridge_offer *o)
{
    const ridge_offer_request *q = desk->q;
    ridge_train_result result = {.n_layouts = 0};
    bool can_fit;
    RIDGE_TRY(train_state_holds(cx, &o->request, &can_fit));
    if (can_fit)
        RIDGE_TRY(search_slice(cx, desk, o, &result));
    desk->covered += result.covered;
    if (result.n_layouts == 0) {
        o->fit = RIDGE_OFFER_NONE;
        return RIDGE_OK;
    }
    o->request.batch_tokens = result.batch_tokens;
    o->fastest_step_s = result.layouts[0].step_time_s;
    o->fastest_peak_bytes = result.layouts[0].peak_memory_bytes;
    take(q, &result.layouts[0], o);
    if (q->goal == RIDGE_OFFER_GOAL_MEMORY)
        take_smallest(q, &result, o);
    return RIDGE_OK;
}

static ridge_offer offer_of(const ridge_offer_request *q, int kind,
                            const ridge_slice *slice)
{
    const ridge_money_request *money = &q->kinds[kind].money;
    ridge_offer o = {.kind = kind, .request = *q->request, .score = (double)INFINITY};
    o.request.slice = slice;
    if (q->kinds[kind].stack != NULL) {
        o.request.stack = q->kinds[kind].stack;
        o.request.is_stack_usual = true;
    }
    o.request.usd_per_chip_hour = money->has_price ? money->price.usd_per_chip_hour : 0;
    o.request.top = 1;
    o.request.front = q->goal == RIDGE_OFFER_GOAL_MEMORY ? RIDGE_TRAIN_FRONT_MAX : 0;
    o.request.progress = NULL;
    return o;
}

/* Contradictions between knobs and this slice are its answer. */
static ridge_status take_failure(offer_desk *desk, ridge_status st, const char *message,
                                 ridge_offer *o)
{
    if (st != RIDGE_E_ARG)
        return st == RIDGE_OK ? st : ridge_fail(desk->cx, st, "%s", message);
    o->fit = RIDGE_OFFER_REFUSED;
    o->why_not = ridge_str_dup(ridge_ctx_arena(desk->cx), ridge_str_of(message));
    return o->why_not == NULL ? ridge_fail_nomem(desk->cx) : RIDGE_OK;
}

/* Search a slice and keep its answer. @param is_good  out: it does */
static ridge_status run(offer_desk *desk, int kind, const ridge_slice *slice,
                        bool *is_good)
{
    if (desk->n == RIDGE_OFFER_MAX)
        return RIDGE_OK;
    ridge_progress *progress = desk->q->request->progress;
    ridge_offer *o = &desk->offers[desk->n];
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return ridge_fail_nomem(desk->cx);
    *o = offer_of(desk->q, kind, slice);
    if (progress != NULL)
        ridge_progress_show(progress, desk->share, slice->text);
    ridge_status st = search(cx, desk, o);
    st = take_failure(desk, st, ridge_ctx_message(cx), o);
    ridge_ctx_close(cx);
    RIDGE_TRY(st);
    desk->n++;
    *is_good = o->fit <= RIDGE_OFFER_UNKNOWN;
    return ridge_ctx_is_cancelled(desk->cx)
               ? ridge_fail(desk->cx, RIDGE_E_CANCELLED, "cancelled during the search")
               : RIDGE_OK;
}

/* ---- all of them ------------------------------------------------------------------
 */

/* The fewest chips of a kind that do, and the most below that do not; 0: none. */
static void find_edge(const offer_desk *desk, int kind, int64_t *low, int64_t *high)
{
    *low = 0;
    *high = INT64_MAX;
    for (int i = 0; i < desk->n; i++) {
        const ridge_offer *o = &desk->offers[i];
        if (o->kind == kind && o->fit <= RIDGE_OFFER_UNKNOWN &&
            o->request.slice->chips < *high)
            *high = o->request.slice->chips;
    }
    for (int i = 0; i < desk->n; i++) {
        const ridge_offer *o = &desk->offers[i];
        const int64_t chips = o->request.slice->chips;
        if (o->kind == kind && chips < *high && chips > *low)
            *low = chips;
    }
}

/* From below: the first that does is the smallest. */
static ridge_status refine(offer_desk *desk, int kind, offer_sizes *sizes)
{
    const ridge_slice *one = desk->q->kinds[kind].slice;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        int64_t low = 0;
        int64_t high = 0;
        bool is_good = false;
        find_edge(desk, kind, &low, &high);
        if (high == INT64_MAX)
            return RIDGE_OK;
        RIDGE_TRY(offer_sizes_between(desk->cx, desk->catalog, one, low, high,
                                      BETWEEN_MOST, sizes));
        for (int i = 0; i < sizes->n && !is_good; i++)
            RIDGE_TRY(run(desk, kind, sizes->slices[i], &is_good));
    }
    return RIDGE_OK;
}

static ridge_status run_kind(offer_desk *desk, int kind, offer_sizes *sizes)
{
    const ridge_offer_request *q = desk->q;
    const ridge_slice *slice = q->kinds[kind].slice;
    bool is_good;
    if (!q->kinds[kind].is_open)
        return run(desk, kind, slice, &is_good);
    RIDGE_TRY(offer_sizes_double(desk->cx, desk->catalog, slice, q->chips_most, sizes));
    for (int i = 0; i < sizes->n; i++)
        RIDGE_TRY(run(desk, kind, sizes->slices[i], &is_good));
    return refine(desk, kind, sizes);
}

static ridge_status run_all(offer_desk *desk)
{
    const int n = desk->q->n_kinds;
    offer_sizes *sizes = ridge_new(ridge_ctx_arena(desk->cx), offer_sizes, 1);
    if (sizes == NULL)
        return ridge_fail_nomem(desk->cx);
    for (int k = 0; k < n; k++) {
        desk->share = (double)k / (double)n;
        RIDGE_TRY(run_kind(desk, k, sizes));
    }
    return RIDGE_OK;
}

/* ---- ranking ----------------------------------------------------------------------
 */

static int order_of(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Equal by the goal: the faster, the cheaper, the smaller, the first named. */
static int compare(const void *left, const void *right)
{
    const ridge_offer *a = left;
    const ridge_offer *b = right;
    const bool is_judged = a->fit <= RIDGE_OFFER_UNKNOWN;
    int order = (int)a->fit - (int)b->fit;
    if (order != 0 && (is_judged || b->fit <= RIDGE_OFFER_UNKNOWN))
        return order;
    if (is_judged) {
        order = order_of(a->score, b->score);
        for (int goal = RIDGE_OFFER_GOAL_COST;
             order == 0 && goal <= RIDGE_OFFER_GOAL_CHIPS; goal++)
            order = order_of(ridge_offer_score(a, (ridge_offer_goal)goal),
                             ridge_offer_score(b, (ridge_offer_goal)goal));
    }
    if (order == 0)
        order = a->kind - b->kind;
    if (order == 0)
        order =
            order_of((double)a->request.slice->chips, (double)b->request.slice->chips);
    return order;
}

static int best_by(const ridge_offer_study *study, ridge_offer_goal goal)
{
    int best = -1;
    double least = (double)INFINITY;
    for (int i = 0; i < study->n && study->offers[i].fit <= RIDGE_OFFER_UNKNOWN; i++) {
        const double score = ridge_offer_score(&study->offers[i], goal);
        if (score < least) {
            least = score;
            best = i;
        }
    }
    return best;
}

static void rank(const offer_desk *desk, ridge_offer_study *out)
{
    ridge_offer_study s = {
        .n = desk->n, .offers = desk->offers, .covered = desk->covered};
    qsort(s.offers, (size_t)s.n, sizeof *s.offers, compare);
    while (s.n_ranked < s.n && s.offers[s.n_ranked].fit == RIDGE_OFFER_OK)
        s.n_ranked++;
    for (int goal = 0; goal < RIDGE_OFFER_GOAL_COUNT; goal++)
        s.best_of[goal] = best_by(&s, (ridge_offer_goal)goal);
    *out = s;
}

ridge_status ridge_offer_search(ridge_ctx *cx, const ridge_catalog *catalog,
                                const ridge_offer_request *q, ridge_offer_study *out)
{
    const double start_s = ridge_clock_s();
    if (q->deadline_s > 0 && !(q->request->total_tokens > 0)) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "a deadline is of a whole run: tell its tokens, as in --tokens "
            "15T");
    }
    offer_desk desk = {.cx = cx, .catalog = catalog, .q = q};
    desk.offers = ridge_new(ridge_ctx_arena(cx), ridge_offer, RIDGE_OFFER_MAX);
    if (desk.offers == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(run_all(&desk));
    rank(&desk, out);
    out->seconds = ridge_clock_s() - start_s;
    return RIDGE_OK;
}
