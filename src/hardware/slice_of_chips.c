/* The slice that a number of chips of a system makes up when its shape is not told: the
 * most compact legal torus, whole slices of it over DCN, or nodes as full as can be. */
#include "ridge/hardware.h"
#include "torus_rules.h"

static const char *shape_text(ridge_ctx *cx, const ridge_system *system,
                              const torus_shape *s)
{
    return ridge__shape_list_text(cx, system, s, 1);
}

/* As few slices as will do. */
static ridge_status torus_text(ridge_ctx *cx, const ridge_system *system, int64_t chips,
                               const char **out)
{
    enum { SLICES_MOST = 4096 };
    for (int64_t n = 1; n <= SLICES_MOST && n <= chips; n++) {
        torus_shape shape;
        if (chips % n != 0 || (n > 1 && !system->has_dcn) ||
            ridge__shape_nearest(system, chips / n, true, 1, &shape) == 0)
            continue;
        const char *text = shape_text(cx, system, &shape);
        *out = n == 1 ? ridge_sprintf(ridge_ctx_arena(cx), "%s:%s", system->name, text)
                      : ridge_sprintf(ridge_ctx_arena(cx), "%lld*%s:%s", (long long)n,
                                      system->name, text);
        return *out == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no slices of %s have %lld chips in all",
                      system->name, (long long)chips);
}

ridge_status ridge_slice_of_chips(ridge_ctx *cx, const ridge_catalog *catalog,
                                  const ridge_system *system, int64_t chips,
                                  const ridge_slice **out)
{
    const char *text = NULL;
    if (chips < 1) {
        return ridge_fail(cx, RIDGE_E_ARG, "%lld chips: expected at least 1",
                          (long long)chips);
    }
    if (system->torus_dims > 0) {
        RIDGE_TRY(torus_text(cx, system, chips, &text));
    } else {
        int64_t node = system->chips_per_node < chips ? system->chips_per_node : chips;
        while (chips % node != 0)
            node--;
        text = ridge_sprintf(ridge_ctx_arena(cx), "%s:%lldx%lld", system->name,
                             (long long)(chips / node), (long long)node);
        if (text == NULL)
            return ridge_fail_nomem(cx);
    }
    return ridge_slice_parse(cx, catalog, text, out);
}
