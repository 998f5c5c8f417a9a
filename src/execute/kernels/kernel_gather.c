/* Rows of a table by their ids, and the sum of gradients back into the rows. */
#include "kernel_simd.h"

/** Row of the table that an id means; -1: it is not in this part. */
static int64_t table_row(const ridge__gather *g, int64_t i)
{
    const int64_t id = g->ids[i];
    const bool is_here = id >= g->first && id - g->first < g->words;
    return is_here ? id - g->first : -1;
}

static void forward_part(void *payload, int worker, int workers)
{
    const ridge__gather *g = payload;
    const ridge__part part = ridge__part_of(g->rows, 1, worker, workers);
    for (int64_t i = part.first; i < part.end; i++) {
        const int64_t row = table_row(g, i);
        if (row < 0)
            row_zero(g->y, i * g->d, g->d);
        else
            row_move(g->table, row * g->d, g->y, i * g->d, g->d);
    }
}

/** Each worker has columns of its own, so that rows are added in their order whatever
 * the number of threads. */
static void backward_part(void *payload, int worker, int workers)
{
    const ridge__gather *g = payload;
    const ridge__part part = ridge__part_of(g->d, 32, worker, workers);
    const int64_t n = part.end - part.first;
    for (int64_t i = 0; i < g->rows && n > 0; i++) {
        const int64_t row = table_row(g, i);
        if (row < 0)
            continue;
        RIDGE__KERNEL(convert)
        (ridge__array_at(g->y, i * g->d + part.first),
         ridge__array_at(g->table, row * g->d + part.first), n, true);
    }
}

ridge_status RIDGE__KERNEL(gather)(ridge__device *d, const ridge__gather *g)
{
    ridge__gather job = *g;
    work_share(d, g->is_backward ? backward_part : forward_part, &job, g->rows * g->d);
    return RIDGE_OK;
}
