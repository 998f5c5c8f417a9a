/* Any bytes as a serving plan, and as goals and knobs: a status and a message, never a
 * crash; what is read can be written again. */
#include "ridge/plan_service_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void read_plan(ridge_ctx *cx, ridge_str text)
{
    ridge_node root;
    ridge_service_plan plan;
    if (ridge_json_parse(cx, text, "fuzz.json", &root) != RIDGE_OK)
        return;
    if (ridge_service_plan_from_json(cx, root, &plan) != RIDGE_OK) {
        expect(ridge_ctx_message(cx)[0] != '\0');
        return;
    }
    expect(plan.choice.n_pools == 1 || plan.choice.n_pools == 2);
    expect(ridge_service_choice_chips(&plan.choice) >= 1);
}

static void read_words(ridge_ctx *cx, ridge_str text)
{
    ridge_service_knobs knobs = ridge_service_knobs_free();
    ridge_service_goals goals;
    const char *z = ridge_str_dup(ridge_ctx_arena(cx), text);
    ridge_str value = text;
    const ridge_str name = ridge_str_cut(&value, '=');
    const char *key = ridge_str_dup(ridge_ctx_arena(cx), name);
    const char *to = ridge_str_dup(ridge_ctx_arena(cx), value);
    if (z == NULL || key == NULL || to == NULL)
        return;
    if (ridge_service_goals_parse(cx, z, &goals) == RIDGE_OK)
        expect(goals.quantile == 0 || (goals.quantile >= 0.5 && goals.quantile < 1));
    if (ridge_service_knobs_set(cx, &knobs, key, to) != RIDGE_OK)
        expect(ridge_ctx_message(cx)[0] != '\0');
    expect(knobs.batch >= 0 && knobs.budget_tokens >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    read_plan(cx, text);
    read_words(cx, text);
    ridge_ctx_close(cx);
    return 0;
}
