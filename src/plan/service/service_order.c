#include "service_order.h"

#include <stdlib.h>

/* Many tasks a worker, so that none has to wait long for another's last one. */
enum { TASKS_A_WORKER = 12 };

/* A layout by what prices are shared over. */
typedef struct kin {
    int format, layout;
    int64_t tp;
} kin;

static int by_kin(const void *left, const void *right)
{
    const kin *a = left;
    const kin *b = right;
    if (a->format != b->format)
        return a->format - b->format;
    if (a->tp != b->tp)
        return a->tp < b->tp ? -1 : 1;
    return a->layout - b->layout;
}

/* Cut layouts into tasks, each of one format and tp. */
static void cut_tasks(const kin *kins, int n, int workers, service_order *out)
{
    const int most = n / (workers * TASKS_A_WORKER) + 1;
    int start = 0;
    for (int i = 0; i < n; i++) {
        out->layouts[i] = kins[i].layout;
        const bool is_last = i + 1 == n || kins[i + 1].format != kins[i].format ||
                             kins[i + 1].tp != kins[i].tp;
        if (is_last || i + 1 - start == most) {
            start = i + 1;
            out->ends[out->n_tasks++] = start;
        }
    }
}

ridge_status service_order_find(ridge_ctx *cx, const service_space *space, int workers,
                                service_order *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const size_t n = (size_t)space->n;
    kin *kins = ridge_new(arena, kin, n + 1);
    service_order order = {.layouts = ridge_new(arena, int, n + 1),
                           .ends = ridge_new(arena, int, n + 1)};
    if (kins == NULL || order.layouts == NULL || order.ends == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < space->n; i++) {
        const service_layout *l = &space->layouts[i];
        kins[i] = (kin){l->format, i, l->layout.tp};
    }
    qsort(kins, n, sizeof *kins, by_kin);
    cut_tasks(kins, space->n, workers, &order);
    *out = order;
    return RIDGE_OK;
}
