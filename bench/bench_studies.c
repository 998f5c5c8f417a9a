/* How long answers take that need many searches: slices of several kinds compared by a
 * deadline, a sweep over chips, and a fleet of unlike pools. */
#include "stopwatch.h"

#include "ridge/plan_fleet.h"
#include "ridge/plan_offer.h"
#include "ridge/plan_sweep.h"

#include <stdio.h>

enum { REPEATS = 3 };

static const ridge_site site = {.name = "here", .pue = 1};

typedef struct study {
    ridge_ctx *cx; /* of the run */
    const ridge_catalog *catalog;
    ridge_train_request request;
} study;

/* ---- one of each ----------------------------------------------------------------- */

static ridge_status run_offers(const study *s)
{
    static const char *const chips[] = {"h100", "b200", "v5p"};
    ridge_offer_kind kinds[RIDGE_COUNT_OF(chips)];
    ridge_train_request r = s->request;
    ridge_offer_study out;
    r.total_tokens = 15e12;
    for (size_t i = 0; i < RIDGE_COUNT_OF(chips); i++) {
        kinds[i] = (ridge_offer_kind){.is_open = true, .money = {.site = &site}};
        RIDGE_TRY(ridge_slice_parse(s->cx, s->catalog, chips[i], &kinds[i].slice));
    }
    const ridge_offer_request q = {.request = &r,
                                   .n_kinds = RIDGE_COUNT_OF(chips),
                                   .kinds = kinds,
                                   .goal = RIDGE_OFFER_GOAL_CHIPS,
                                   .deadline_s = 30 * RIDGE_DAY_S,
                                   .chips_most = 65536};
    return ridge_offer_search(s->cx, s->catalog, &q, &out);
}

static ridge_status run_sweep(const study *s)
{
    const ridge_money_request money = {.site = &site};
    ridge_train_request r = s->request;
    ridge_curve_range range;
    ridge_curve_study *out = ridge_new(ridge_ctx_arena(s->cx), ridge_curve_study, 1);
    if (out == NULL)
        return ridge_fail_nomem(s->cx);
    RIDGE_TRY(ridge_slice_parse(s->cx, s->catalog, "h800:256x8", &r.slice));
    RIDGE_TRY(ridge_curve_parse(s->cx, "chips=64..16384", &range));
    return ridge_train_sweep(s->cx, s->catalog, &r, &money, &range, out);
}

static ridge_status run_fleet(const study *s)
{
    ridge_train_request r = s->request;
    ridge_fleet_result out;
    RIDGE_TRY(ridge_slice_parse(s->cx, s->catalog, "h100:128x8+h800:128x8", &r.slice));
    return ridge_fleet_search(s->cx, &r, &out);
}

/* ---- rates ----------------------------------------------------------------------- */

static const struct {
    const char *name;
    ridge_status (*run)(const study *s);
} rows[] = {
    {"study_offers", run_offers},
    {"study_sweep", run_sweep},
    {"study_fleet", run_fleet},
};

static ridge_status open_study(ridge_ctx *cx, study *out)
{
    const ridge_library *library = NULL;
    *out = (study){.cx = cx,
                   .request = {.batch_tokens = 64.0 * 1024 * 1024,
                               .seq_tokens = 4096,
                               .knobs = ridge_knobs_free(),
                               .top = 5}};
    RIDGE_TRY(ridge_catalog_open(cx, NULL, &out->catalog));
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_layer_shelf_open(cx, &out->request.shelf));
    return ridge_model_load(cx, library, "deepseek-v3", &out->request.model);
}

/* From nothing, as a command does. */
static double answer_once(void *payload)
{
    const size_t *row = payload;
    study s;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return -1;
    const bool is_done =
        open_study(cx, &s) == RIDGE_OK && rows[*row].run(&s) == RIDGE_OK;
    if (!is_done)
        fprintf(stderr, "bench: %s\n", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return is_done ? 1 : -1;
}

int main(void)
{
    int code = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && code == 0; i++) {
        const bench b = {.name = rows[i].name,
                         .unit = "answers/s",
                         .repeats = REPEATS,
                         .run = answer_once,
                         .payload = &i};
        code = bench_report(&b, NULL);
    }
    return code;
}
