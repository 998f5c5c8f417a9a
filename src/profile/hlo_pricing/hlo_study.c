/* A module studied from its graphs to its totals. */
#include "hlo_pricing.h"

static ridge_status find_devices(ridge_ctx *cx, const ridge_hlo_module *module,
                                 const ridge_hlo_request *request, int64_t *out)
{
    RIDGE_TRY(ridge_hlo_module_devices(cx, module, out));
    if (request->devices > 0) {
        if (request->devices < *out) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "the module's groups name %lld devices: give at least as "
                              "many",
                              (long long)*out);
        }
        *out = request->devices;
    }
    if (request->slice && request->slice->chips < *out) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the module is for %lld devices, %s has %lld chips: give "
                          "--on a slice of %lld",
                          (long long)*out, request->slice->text,
                          (long long)request->slice->chips, (long long)*out);
    }
    return RIDGE_OK;
}

static ridge_status find_kernels(hlo_pricing *p)
{
    const hlo_fusing how = {.is_compiled = p->is_compiled,
                            .joins_products =
                                p->chip && p->chip->kind == RIDGE_CHIP_TPU};
    p->kernels = ridge_new(ridge_ctx_arena(p->cx), hlo_kernels, (size_t)p->graphs.n);
    p->priced = ridge_new(ridge_ctx_arena(p->cx), hlo_priced *, (size_t)p->graphs.n);
    if (p->kernels == NULL || p->priced == NULL)
        return ridge_fail_nomem(p->cx);
    for (int g = 0; g < p->graphs.n; g++)
        RIDGE_TRY(hlo_kernels_find(p->cx, &p->graphs.graphs[g], &how, &p->kernels[g]));
    return RIDGE_OK;
}

static ridge_status study(hlo_pricing *p, const ridge_hlo_request *request,
                          ridge_hlo_study *out)
{
    RIDGE_TRY(hlo_graphs_build(p->cx, p->module, request->rounds, &p->graphs));
    RIDGE_TRY(find_kernels(p));
    RIDGE_TRY(hlo_price_kernels(p));
    RIDGE_TRY(hlo_timeline_play(p));
    RIDGE_TRY(hlo_memory_find(p, &out->memory));
    RIDGE_TRY(hlo_totals_fill(p, out));
    hlo_degrees_find(out);
    RIDGE_TRY(hlo_buckets_fill(p->cx, out));
    return hlo_advice_find(p, out);
}

ridge_status ridge_hlo_study_find(ridge_ctx *cx, const ridge_hlo_module *module,
                                  const ridge_hlo_request *request,
                                  ridge_hlo_study *out)
{
    hlo_pricing p = {.cx = cx,
                     .module = module,
                     .slice = request->slice,
                     .chip = request->slice ? request->slice->chip : NULL,
                     .is_compiled = hlo_module_is_compiled(module)};
    *out = (ridge_hlo_study){
        .module = module, .slice = request->slice, .is_compiled = p.is_compiled};
    RIDGE_TRY(find_devices(cx, module, request, &p.devices));
    out->devices = p.devices;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    const ridge_status st = study(&p, request, out);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    return st;
}
