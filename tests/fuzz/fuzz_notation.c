/*
 * Any bytes as a notation of options: changes of hardware, operations that are computed
 * again, adapters, offload, ranges of bytes, routes. A status and a message of one
 * line, never a crash; what is read is within its bounds.
 */
#include "ridge/plan_layout.h"
#include "ridge/plan_reasons.h"
#include "ridge/program_remat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

/* @return whether it was read; what was not says why in one line */
static bool is_read(const ridge_ctx *cx, ridge_status status)
{
    if (status == RIDGE_OK)
        return true;
    expect(ridge_ctx_message(cx)[0] != '\0');
    expect(strchr(ridge_ctx_message(cx), '\n') == NULL);
    return false;
}

static void read_hardware(ridge_ctx *cx, const char *text)
{
    const ridge_catalog *catalog = NULL;
    const ridge_slice *slice = NULL;
    const ridge_slice *changed = NULL;
    ridge_what_if what;
    ridge_message_route route;
    expect(ridge_catalog_open(cx, NULL, &catalog) == RIDGE_OK);
    expect(ridge_slice_parse(cx, catalog, "v5p:4x4x8", &slice) == RIDGE_OK);
    if (is_read(cx, ridge_what_if_parse(cx, text, slice, &what))) {
        expect(what.n >= 0 && what.n <= RIDGE_CHANGE_MAX);
        for (int i = 0; i < what.n; i++)
            expect(what.changes[i].factor > 0);
        expect(ridge_slice_change(cx, slice, &what, &changed) == RIDGE_OK);
    }
    if (is_read(cx, ridge_message_route_parse(cx, slice, text, "0,0,0", &route)))
        expect(route.hops > 0 && route.ports > 0);
}

static void read_choices(ridge_ctx *cx, const char *text)
{
    ridge_bytes_range range;
    ridge_remat_ops ops;
    ridge_lora_targets targets;
    unsigned offload;
    if (is_read(cx, ridge_bytes_range_parse(cx, text, &range)))
        expect(range.from > 0 && range.to >= range.from && range.factor > 1);
    is_read(cx, ridge_remat_ops_parse(cx, text, &ops));
    is_read(cx, ridge_lora_parse(cx, text, &targets));
    is_read(cx, ridge_offload_parse(cx, text, &offload));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    char text[256];
    if (cx == NULL)
        return 0;
    const size_t n = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    read_hardware(cx, text);
    read_choices(cx, text);
    ridge_ctx_close(cx);
    return 0;
}
