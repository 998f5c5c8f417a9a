/* How many collectives a search can price a second, on slices of each kind. */
#include "stopwatch.h"

#include "ridge/cost.h"

enum { PRICES = 200000 };

typedef struct load {
    const ridge_slice *slice;
    ridge_group group;
} load;

static double price_once(void *payload)
{
    const load *l = payload;
    double sum_s = 0.0;
    for (int i = 0; i < PRICES; i++) {
        const ridge_collective kind = (ridge_collective)(i % 4);
        sum_s += ridge_collective_time(l->slice, kind, 1e6 + i, &l->group).expected_s;
    }
    return sum_s > 0.0 ? PRICES : -1;
}

int main(void)
{
    static const struct {
        const char *name, *slice;
    } rows[] = {{"collective_torus", "v5p:8x16x16"},
                {"collective_node", "h100:1x8"},
                {"collective_fat_tree", "h100:128x8"},
                {"collective_slices", "2*v5p:8x8x8"}};
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    int code = !cx || ridge_catalog_open(cx, NULL, &catalog) != RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows) && !code; i++) {
        load l = {.slice = NULL};
        code = ridge_slice_parse(cx, catalog, rows[i].slice, &l.slice) != RIDGE_OK ||
               ridge_group_parse(cx, l.slice, "all", &l.group) != RIDGE_OK;
        const bench b = {
            .name = rows[i].name, .unit = "prices/s", .run = price_once, .payload = &l};
        if (!code)
            code = bench_report(&b, NULL);
    }
    ridge_ctx_close(cx);
    return code;
}
