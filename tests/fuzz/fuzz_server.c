/* Any bytes as the command of a serving engine: a status and a message of one line,
 * never a crash; what is read is a layout of positive degrees that can be written. */
#include "ridge/plan_launch_serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_layout(const ridge_serving_layout *l)
{
    expect(l->tp >= 1 && l->pp >= 1 && l->ep >= 1 && l->attention_dp >= 1);
    expect((l->tp * l->attention_dp) % l->ep == 0);
    expect(l->sequences >= 1 && l->budget_tokens >= 1);
    expect(l->draft.kind == RIDGE_DRAFT_NONE ||
           (l->draft.depth >= 1 && l->draft.depth <= RIDGE_DRAFT_DEPTH_MAX));
    expect(l->draft.kind == RIDGE_DRAFT_NONE || l->draft.nodes >= l->draft.depth);
}

static void check(ridge_ctx *cx, const ridge_serving_launch *l)
{
    const ridge_deployment *d = &l->deployment;
    ridge_launch_text text;
    expect(d->model != NULL && d->model_name != NULL && d->engine != NULL);
    expect(isfinite(d->longest_tokens) && d->longest_tokens >= 0);
    expect(d->choice.n_pools == 1 || d->choice.n_pools == 2);
    for (int i = 0; i < d->choice.n_pools; i++) {
        expect(d->choice.pools[i].servers >= 1);
        check_layout(&d->choice.pools[i].layout);
    }
    if (ridge_serving_launch_write(cx, l->launcher, d, &text) != RIDGE_OK)
        expect(ridge_ctx_message(cx)[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_serving_launch_query query = {0};
    ridge_serving_launch launch;
    if (cx == NULL)
        return 0;
    expect(ridge_library_open(cx, NULL, &query.library) == RIDGE_OK);
    expect(ridge_catalog_open(cx, NULL, &query.catalog) == RIDGE_OK);
    const ridge_str text = {(const char *)data, size};
    if (ridge_serving_launch_parse(cx, text, "fuzz", &query, &launch) == RIDGE_OK) {
        check(cx, &launch);
    } else {
        expect(ridge_ctx_message(cx)[0] != '\0');
        expect(strchr(ridge_ctx_message(cx), '\n') == NULL);
    }
    ridge_ctx_close(cx);
    return 0;
}
