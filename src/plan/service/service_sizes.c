/* The smallest slices by number format. */
#include "service_source.h"
#include "service_space.h"

#include "ridge/plan_service_study.h"
#include "ridge/plan_serving_roofline.h"

#include <math.h>

enum { CHIPS_TIMES = 64, BUDGET = 2048 };

/* One server on all chips of a slice that leaves the most for the cache. */
static ridge_status fit(ridge_ctx *cx, const ridge_service_request *r,
                        const ridge_slice *slice, ridge_service_size *out)
{
    ridge_service_request on = *r;
    service_source source;
    service_space space;
    double most = 0;
    on.slice = slice;
    on.knobs.mode = RIDGE_SERVICE_MODE_AGGREGATED;
    on.knobs.draft = (ridge_draft){.kind = RIDGE_DRAFT_NONE};
    on.knobs.n_formats = 1;
    on.knobs.formats[0] = out->formats;
    RIDGE_TRY(service_source_desk(cx, &on, &source));
    RIDGE_TRY(service_space_build(cx, &on, &space));
    for (int i = 0; i < space.n; i++) {
        ridge_serving_memory m;
        ridge_serving_layout l = space.layouts[i].layout;
        if (ridge_serving_layout_chips(&l) != slice->chips)
            continue;
        l.sequences = l.attention_dp * l.pp;
        l.budget_tokens = BUDGET;
        if (source.fault(source.payload, &l) != NULL)
            continue;
        RIDGE_TRY(source.memory(source.payload, &l, &m));
        const double tokens =
            m.cache / m.cache_bytes_per_token * (double)l.attention_dp;
        if (!m.fits || tokens <= most)
            continue;
        most = tokens;
        out->slice = slice;
        out->layout = l;
        out->cache_bytes = m.cache * (double)slice->chips;
        out->sequences = floor(most / (r->work.prompt_tokens + r->work.output_tokens));
    }
    return RIDGE_OK;
}

static ridge_status size_of(ridge_ctx *cx, const ridge_catalog *catalog,
                            const ridge_service_request *r, ridge_service_size *out)
{
    const ridge_system *system = r->slice->system;
    const ridge_serving_formats *f = &out->formats;
    const ridge_roofline_service s =
        ridge_roofline_service_of(r->model, r->slice, f, r->work.prompt_tokens);
    out->weight_bytes = s.weight_bytes;
    out->cache_bytes_per_token = s.kv_bytes_per_token;
    out->chips_least =
        ridge_roofline_chips_least(s.weight_bytes, r->slice->chip->hbm_bytes);
    const int64_t least = (int64_t)fmax(1, out->chips_least);
    for (int64_t n = least; n <= CHIPS_TIMES * least && out->slice == NULL; n++) {
        const ridge_slice *slice;
        if (system == NULL ||
            ridge_slice_of_chips(cx, catalog, system, n, &slice) != RIDGE_OK) {
            ridge_ctx_clear(cx);
            continue;
        }
        if (slice->slices > 1)
            continue;
        RIDGE_TRY(fit(cx, r, slice, out));
    }
    return RIDGE_OK;
}

ridge_status ridge_service_sizes(ridge_ctx *cx, const ridge_catalog *catalog,
                                 const ridge_service_request *request,
                                 ridge_service_size *out, int *n)
{
    *n = 0;
    for (int i = 0; i < request->knobs.n_formats; i++) {
        ridge_service_size *row = &out[(*n)++];
        *row = (ridge_service_size){.formats = request->knobs.formats[i]};
        RIDGE_TRY(size_of(cx, catalog, request, row));
    }
    return RIDGE_OK;
}
