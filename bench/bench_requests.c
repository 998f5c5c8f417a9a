/* How many requests a second are simulated on one core: a search's view of a service.
 */
#include "stopwatch.h"

#include "ridge/plan_requests.h"

enum { REQUESTS = 10000, LONGEST = 8192 };

typedef struct load {
    ridge_service_deployment deployment;
    bool is_stepped;
} load;

static double play(void *payload)
{
    load *l = payload;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_request_draws draws = {
        .arrivals = RIDGE_ARRIVAL_POISSON,
        .rate_per_s = 5,
        .requests = REQUESTS,
        .prompt = {RIDGE_LENGTH_UNIFORM, 1190, 0.5, 0, 0},
        .output = {RIDGE_LENGTH_UNIFORM, 215, 0.5, 0, 0},
        .seed = 1};
    const ridge_serving_goals goals = {.ttft_s = 0.5, .tpot_s = 0.05};
    ridge_request_source source;
    ridge_serving_summary summary;
    double done = -1;
    l->deployment.play.is_stepped = l->is_stepped;
    if (cx != NULL && ridge_request_draws_open(cx, &draws, &source) == RIDGE_OK &&
        ridge_serving_play(cx, &l->deployment.play, &source, &goals, NULL, &summary) ==
            RIDGE_OK)
        done = (double)summary.completed;
    ridge_ctx_close(cx);
    return done;
}

/* Llama 3 8B on one H100, as vLLM runs it. */
static ridge_status open_load(ridge_ctx *cx, load *l)
{
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    ridge_service_choice choice;
    ridge_service_request r = {.knobs = ridge_service_knobs_free()};
    RIDGE_TRY(ridge_catalog_open(cx, NULL, &catalog));
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_model_load(cx, library, "llama-3-8b", &r.model));
    RIDGE_TRY(ridge_slice_parse(cx, catalog, "h100:1x1", &r.slice));
    RIDGE_TRY(ridge_engine_find(cx, catalog, "vllm-v1", &r.engine));
    RIDGE_TRY(
        ridge_service_knobs_close(cx, r.model, r.slice->chip, r.engine, &r.knobs));
    RIDGE_TRY(ridge_service_choice_of_knobs(cx, &r, &choice));
    return ridge_service_deploy(cx, &r, &choice, LONGEST, &l->deployment);
}

int main(void)
{
    static load l;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL || open_load(cx, &l) != RIDGE_OK) {
        fprintf(stderr, "%s\n", cx == NULL ? "out of memory" : ridge_ctx_message(cx));
        return 1;
    }
    const bench whole = {
        .name = "simulate_requests", .unit = "requests/s", .run = play, .payload = &l};
    int code = bench_report(&whole, NULL);
    l.is_stepped = true;
    const bench stepped = {.name = "simulate_requests_stepped",
                           .unit = "requests/s",
                           .run = play,
                           .payload = &l};
    code = code != 0 ? code : bench_report(&stepped, NULL);
    ridge_ctx_close(cx);
    return code;
}
