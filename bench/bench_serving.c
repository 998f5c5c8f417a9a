/* How many first tables of a desk, tables of layouts that share a cut, and iterations a
 * second are priced on one core. */
#include "stopwatch.h"

#include "ridge/plan_serving.h"

enum { SHARED = 200, STEPS = 2000 };

typedef struct load {
    ridge_serving_case about;
    ridge_serving_layout layout;
    ridge_ctx *cx; /* of the desk that is shared */
    ridge_serving_desk *desk;
} load;

/* A desk opened, its program cut, its tables made. */
static double first_tables(void *payload)
{
    load *l = payload;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_serving_desk *desk;
    ridge_serving_speed speed;
    const bool is_ok = cx != NULL &&
                       ridge_serving_desk_open(cx, &l->about, &desk) == RIDGE_OK &&
                       ridge_serving_speed_build(desk, &l->layout, &speed) == RIDGE_OK;
    ridge_ctx_close(cx);
    return is_ok ? 1 : -1;
}

/* Other batches of the same cut. */
static double shared_tables(void *payload)
{
    load *l = payload;
    ridge_serving_layout layout = l->layout;
    ridge_serving_speed speed;
    for (int i = 0; i < SHARED; i++) {
        layout.sequences = 129 + i % 100;
        if (ridge_serving_speed_build(l->desk, &layout, &speed) != RIDGE_OK)
            return -1;
    }
    return SHARED;
}

static double iterations(void *payload)
{
    load *l = payload;
    ridge_serving_step step;
    for (int i = 0; i < STEPS; i++) {
        const ridge_serving_load at = {.decode_sequences = 1 + i % 64,
                                       .decode_context = 500 + i};
        if (ridge_serving_step_price(l->desk, &l->layout, &at, &step) != RIDGE_OK)
            return -1;
    }
    return STEPS;
}

static const struct {
    const char *name, *model, *slice, *engine;
    int64_t tp, ep, attention_dp;
} rows[] = {
    {"llama_3_1_70b_h100", "llama-3.1-70b", "h100:8", "vllm-v1", 8, 1, 1},
    {"gpt_oss_120b_h100", "gpt-oss-120b", "h100:8", "vllm-v1", 4, 4, 1},
    {"deepseek_v3_h200", "deepseek-v3", "h200:8", "sglang", 1, 8, 8},
    {"llama_3_1_70b_v5p", "llama-3.1-70b", "v5p:2x2x4", "jetstream", 16, 1, 1},
};

static int report(load *l, const char *name)
{
    static const struct {
        const char *what, *unit;
        double (*run)(void *payload);
    } KINDS[] = {{"first", "tables/s", first_tables},
                 {"shared", "tables/s", shared_tables},
                 {"steps", "iterations/s", iterations}};
    int code = ridge_serving_desk_open(l->cx, &l->about, &l->desk) != RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(KINDS) && !code; i++) {
        const char *text =
            ridge_sprintf(ridge_ctx_arena(l->cx), "serving_%s_%s", name, KINDS[i].what);
        const bench b = {
            .name = text, .unit = KINDS[i].unit, .run = KINDS[i].run, .payload = l};
        code = text == NULL || bench_report(&b, NULL);
    }
    return code;
}

int main(void)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    int code = !cx || ridge_catalog_open(cx, NULL, &catalog) != RIDGE_OK ||
               ridge_library_open(cx, NULL, &library) != RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && !code; i++) {
        load l = {.about = {.longest_tokens = 16384}, .cx = cx};
        code = ridge_slice_parse(cx, catalog, rows[i].slice, &l.about.slice) ||
               ridge_model_load(cx, library, rows[i].model, &l.about.model) ||
               ridge_engine_find(cx, catalog, rows[i].engine, &l.about.engine);
        if (code)
            break;
        l.layout = (ridge_serving_layout){
            .tp = rows[i].tp,
            .pp = 1,
            .ep = rows[i].ep,
            .attention_dp = rows[i].attention_dp,
            .formats = ridge_serving_formats_of(l.about.model, l.about.slice->chip),
            .sequences = 256,
            .budget_tokens = 8192};
        code = report(&l, rows[i].name);
    }
    ridge_ctx_close(cx);
    return code;
}
