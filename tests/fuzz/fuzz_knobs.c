/* Lines of key=value as knobs: what is taken lies in its range. */
#include "ridge/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_ranges(const ridge_knobs *k)
{
    const int64_t degrees[] = {k->dp, k->fsdp, k->tp,  k->cp,
                               k->pp, k->ep,   k->vpp, k->microbatch_seqs};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++)
        expect(degrees[i] >= 0);
    expect(k->zero_stage >= RIDGE_ZERO_FREE && k->zero_stage <= 3);
    expect(k->has_sp >= RIDGE_FLAG_FREE && k->has_sp <= 1);
    expect(k->remat >= RIDGE_REMAT_FREE && k->remat <= RIDGE_REMAT_OPERATIONS);
    expect((int)k->precision < RIDGE_PRECISION_COUNT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)16 << 20);
    if (cx == NULL)
        return 0;
    ridge_knobs knobs = ridge_knobs_free();
    ridge_str rest = {(const char *)data, size};
    while (rest.p != NULL && rest.n > 0) {
        ridge_str value = ridge_str_cut(&rest, '\n');
        const ridge_str name = ridge_str_cut(&value, '=');
        const char *key = ridge_str_dup(ridge_ctx_arena(cx), name);
        const char *text =
            value.p == NULL ? "" : ridge_str_dup(ridge_ctx_arena(cx), value);
        if (key == NULL || text == NULL)
            break;
        if (ridge_knobs_set(cx, &knobs, key, text) != RIDGE_OK)
            expect(ridge_ctx_message(cx)[0] != '\0');
        check_ranges(&knobs);
    }
    ridge_ctx_close(cx);
    return 0;
}
