/* Any text as a slice, and as axis names of a slice: a status, never a crash. */
#include <stdlib.h>
#include <string.h>

#include "ridge/hardware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What holds for every slice that was taken. */
static void check_slice(ridge_ctx *cx, const ridge_slice *s, const char *text)
{
    ridge_group group;
    int64_t chips = 1;
    for (int i = 0; i < s->n_axes; i++) {
        if (s->axes[i].size < 2 || !ridge_mul_i64(chips, s->axes[i].size, &chips))
            abort();
    }
    if (chips != s->chips || s->hosts < 1 || s->hosts > chips)
        abort();
    if (ridge_slice_diameter_hops(s) < 0)
        abort();
    if (!ridge_placement_fill(s, NULL, &s->chips, 1, &group) ||
        ridge_group_text(cx, s, &group) == NULL)
        abort();
    if (ridge_group_parse(cx, s, text, &group) == RIDGE_OK && group.ranks > s->chips)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ridge_ctx *shared; /* the built-in catalogue, opened once */
    static const ridge_catalog *catalog;
    if (shared == NULL) {
        shared = ridge_ctx_open();
        if (shared == NULL || ridge_catalog_open(shared, NULL, &catalog) != RIDGE_OK)
            abort();
    }
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    const ridge_slice *slice = NULL;
    if (cx == NULL)
        return 0;
    const char *text =
        ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){(const char *)data, size});
    /* Paths would read files of whoever runs this. */
    if (text != NULL && strpbrk(text, "@./") == NULL &&
        ridge_slice_parse(cx, catalog, text, &slice) == RIDGE_OK) {
        for (; slice != NULL; slice = slice->next)
            check_slice(cx, slice, text);
    }
    ridge_ctx_close(cx);
    return 0;
}
