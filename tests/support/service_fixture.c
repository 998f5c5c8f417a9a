#include "service_fixture.h"

ridge_service_request service_request(ridge_ctx *cx, const ridge_model *model,
                                      const char *slice)
{
    const ridge_catalog *catalog = NULL;
    ridge_service_request r = {.model = model,
                               .slice = train_slice(cx, slice),
                               .work = {.prompt_tokens = 512, .output_tokens = 64},
                               .goals = ridge_service_goals_none(),
                               .aim = RIDGE_SERVICE_AIM_THROUGHPUT,
                               .knobs = ridge_service_knobs_free(),
                               .usd_per_chip_hour = 2,
                               .top = 3};
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_engine_find(cx, catalog, "vllm-v1", &r.engine));
    assert_ok(cx,
              ridge_service_knobs_close(cx, model, r.slice->chip, r.engine, &r.knobs));
    return r;
}

ridge_service_price service_best(ridge_ctx *cx, const ridge_service_request *request)
{
    ridge_service_result result;
    assert_ok(cx, ridge_service_search(cx, request, &result));
    assert_true(result.n_layouts > 0);
    return result.layouts[0];
}
