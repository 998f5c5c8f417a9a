/* Any bytes as a launch configuration: a status and a message of one line, never a
 * crash; what is read has knobs that can be searched. */
#include "ridge/plan_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void check(const ridge_launch *l)
{
    expect(l->model != NULL && l->model_name != NULL && l->format != NULL);
    expect(isfinite(l->batch_seqs) && l->batch_seqs >= 0);
    expect(isfinite(l->seq_tokens) && l->seq_tokens >= 0);
    expect(isfinite(l->total_tokens) && l->total_tokens >= 0);
    expect(ridge_model_params(l->model).total > 0);
    if (l->has_layout) {
        const ridge_knobs *k = &l->knobs;
        expect(k->dp * k->fsdp * k->tp * k->cp * k->pp == 8);
        expect(k->vpp >= 1 && k->ep >= 1 && k->microbatch_seqs >= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    const ridge_slice slice = {.text = "eight", .chips = 8, .slices = 1};
    ridge_launch_query query = {.slice = &slice};
    ridge_launch launch;
    if (cx == NULL)
        return 0;
    expect(ridge_library_open(cx, NULL, &query.library) == RIDGE_OK);
    const ridge_str text = {(const char *)data, size};
    if (ridge_launch_parse(cx, text, "fuzz", &query, &launch) == RIDGE_OK) {
        check(&launch);
    } else {
        expect(ridge_ctx_message(cx)[0] != '\0');
        expect(strchr(ridge_ctx_message(cx), '\n') == NULL);
    }
    ridge_ctx_close(cx);
    return 0;
}
