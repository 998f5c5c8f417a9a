#include "rows_load.h"

#include "host_memory.h"

#include <math.h>

static int64_t own_count(const ridge__runner *r)
{
    int64_t n = 0;
    for (int i = 0; i < r->n_chunks; i++)
        n += r->chunks[i].m->rows.n;
    return n;
}

static void list_own(const ridge__runner *r, int64_t most, double *out)
{
    int64_t at = 0;
    for (int i = 0; i < r->n_chunks; i++) {
        const ridge__rows_log *log = &r->chunks[i].m->rows;
        for (int k = 0; k < log->n && at < most; k++)
            out[at++] = (double)log->rows[k];
    }
}

/* The ranks of a stage go through the same products in the same order, and wait for
 * each other in each. @param all  [ranks, most] */
static double load_of(const double *all, int64_t most, int ranks, int stages)
{
    const int each = ranks / stages;
    double top = 0.0, mean = 0.0;
    for (int stage = 0; stage < stages; stage++) {
        for (int64_t i = 0; i < most; i++) {
            double busiest = 0.0;
            for (int k = stage * each; k < (stage + 1) * each; k++) {
                busiest = fmax(busiest, all[k * most + i]);
                mean += all[k * most + i] / each;
            }
            top += busiest;
        }
    }
    return mean > 0.0 ? top / mean : 0.0;
}

ridge_status ridge__rows_load(ridge__runner *r, double *out)
{
    const int ranks = ridge_comm_size(r->world);
    const double own = (double)own_count(r);
    double counts[RIDGE_RANK_MAX], most = 0.0;
    RIDGE_TRY(ridge__share_doubles(r, r->world, &own, 1, counts));
    for (int i = 0; i < ranks; i++)
        most = fmax(most, counts[i]);
    *out = 0.0;
    if (!(most > 0.0))
        return RIDGE_OK;
    const size_t n = (size_t)most;
    double *mine = ridge__host_new(n, sizeof *mine);
    double *all = ridge__host_new(n * (size_t)ranks, sizeof *all);
    ridge_status st = mine && all ? RIDGE_OK : ridge_fail_nomem(r->cx);
    if (st == RIDGE_OK) {
        list_own(r, (int64_t)n, mine);
        st = ridge__share_doubles(r, r->world, mine, (int)n, all);
    }
    if (st == RIDGE_OK)
        *out = load_of(all, (int64_t)n, ranks, (int)r->world_mesh.axes[0].size);
    ridge__host_free(mine);
    ridge__host_free(all);
    return st;
}
