/* Whether anything of a checkpoint's layers is left over once all ranks have read. */
#include "host_memory.h"
#include "runner.h"
#include "weight_source.h"

static int64_t layers_of(const ridge__runner *r)
{
    const ridge_program *full = r->chunks[0].full;
    return ridge__layers_before(full, full->n_blocks);
}

/* @param read  [ranks, n]: tensors of the source that a rank has read */
static ridge_status check_all(ridge__runner *r, const ridge_weight_source *s,
                              const double *read)
{
    const int64_t layers = layers_of(r);
    for (size_t i = 0; i < s->n; i++) {
        double readers = 0.0;
        for (int rank = 0; rank < ridge_comm_size(r->world); rank++)
            readers += read[(size_t)rank * s->n + i];
        if (readers > 0.0 || !ridge__weight_source_is_expected(s, i, layers))
            continue;
        return ridge_fail(r->cx, RIDGE_E_ARG,
                          "%s: the model as its config says has no weight %s: its text "
                          "would be another; take the config.json of this checkpoint, "
                          "or a model that Ridge has",
                          s->path, s->tensors[i].name);
    }
    return RIDGE_OK;
}

ridge_status ridge__weights_are_used(ridge__runner *r,
                                     const ridge_weight_source *source)
{
    const size_t n = source->n;
    const size_t ranks = (size_t)ridge_comm_size(r->world);
    double *own = ridge__host_new(n + 1, sizeof *own);
    double *all = ridge__host_new(n * ranks + 1, sizeof *all);
    ridge_status st = own && all ? RIDGE_OK : ridge_fail_nomem(r->cx);
    for (size_t i = 0; st == RIDGE_OK && i < n; i++)
        own[i] = source->is_read[i] ? 1.0 : 0.0;
    if (st == RIDGE_OK && n > 0)
        st = ridge__share_doubles(r, r->world, own, (int)n, all);
    st = st == RIDGE_OK ? check_all(r, source, all) : st;
    ridge__host_free(own);
    ridge__host_free(all);
    return st;
}
