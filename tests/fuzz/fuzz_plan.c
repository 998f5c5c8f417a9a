/* Any bytes as a plan: a status and a message, never a crash; a layout that is read can
 * be priced, laid out and written again. */
#include "ridge/plan_fleet.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char config[] =
    "{\"model_type\":\"mixtral\",\"hidden_size\":512,\"num_hidden_layers\":4,"
    "\"num_attention_heads\":8,\"num_key_value_heads\":4,\"intermediate_size\":1024,"
    "\"vocab_size\":1000,\"num_local_experts\":8,\"num_experts_per_tok\":2}";

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void price(ridge_ctx *cx, const ridge_plan *plan)
{
    const ridge_catalog *catalog = NULL;
    ridge_node node;
    ridge_train_request r = {.batch_tokens = plan->batch_tokens,
                             .seq_tokens = plan->seq_tokens,
                             .total_tokens = plan->total_tokens,
                             .convention = plan->convention,
                             .knobs = ridge_knobs_free()};
    ridge_train_price p;
    expect(ridge_catalog_open(cx, NULL, &catalog) == RIDGE_OK);
    expect(ridge_slice_parse(cx, catalog, "h100:1x8", &r.slice) == RIDGE_OK);
    expect(ridge_json_parse(cx, ridge_str_of(config), "config", &node) == RIDGE_OK);
    expect(ridge_model_from_config(cx, node, "fuzz", &r.model) == RIDGE_OK);
    if (ridge_train_price_one(cx, &r, &plan->layout, &p) != RIDGE_OK)
        return;
    if (p.fit == RIDGE_FIT_OK)
        expect(isfinite(p.step_time_s) && p.step_time_s > 0 && p.padded_seqs >= 0);
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    expect(ridge_json_write(cx, ridge_plan_to_json(cx, &r, "fuzz", &p), &text) ==
           RIDGE_OK);
}

/* Whatever fleet it was written for, on a small one. */
static void price_fleet(ridge_ctx *cx, ridge_node root)
{
    const ridge_catalog *catalog = NULL;
    ridge_node node;
    ridge_fleet_plan plan;
    ridge_explanation told;
    if (ridge_fleet_plan_from_json(cx, root, &plan) != RIDGE_OK) {
        expect(ridge_ctx_message(cx)[0] != '\0');
        return;
    }
    ridge_train_request r = {.batch_tokens = plan.head.batch_tokens,
                             .seq_tokens = plan.head.seq_tokens,
                             .convention = plan.head.convention,
                             .knobs = ridge_knobs_free()};
    expect(ridge_catalog_open(cx, NULL, &catalog) == RIDGE_OK);
    expect(ridge_slice_parse(cx, catalog, "h100:1x4+a100:1x4", &r.slice) == RIDGE_OK);
    expect(ridge_json_parse(cx, ridge_str_of(config), "config", &node) == RIDGE_OK);
    expect(ridge_model_from_config(cx, node, "fuzz", &r.model) == RIDGE_OK);
    if (ridge_fleet_explain(cx, &r, &plan, "step_time", &told) == RIDGE_OK)
        expect(told.n_reasons > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)256 << 20);
    ridge_node root;
    ridge_plan plan;
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK) {
        if (ridge_plan_is_fleet(root))
            price_fleet(cx, root);
        else if (ridge_plan_from_json(cx, root, &plan) == RIDGE_OK)
            price(cx, &plan);
        else
            expect(ridge_ctx_message(cx)[0] != '\0');
    }
    ridge_ctx_close(cx);
    return 0;
}
