/* The slice that a number of chips of a system makes up when its shape is not told: the
 * most compact legal torus, whole slices of it over DCN, or nodes as full as can be;
 * and a slice like another one, of more or fewer chips. */
#include "ridge/hardware.h"
#include "ridge/hardware_site.h"
#include "slice_build.h"
#include "torus_rules.h"

#include <string.h>

static const char *shape_text(ridge_ctx *cx, const ridge_system *system,
                              const torus_shape *s)
{
    return ridge__shape_list_text(cx, system, s, 1);
}

/* As few slices as will do.
 * @param name   of the system, as the notation takes it
 * @param least  chips of each slice where there are several */
static ridge_status torus_text(ridge_ctx *cx, const ridge_system *system,
                               const char *name, int64_t least, int64_t chips,
                               const char **out)
{
    enum { SLICES_MOST = 4096 };
    for (int64_t n = 1; n <= SLICES_MOST && n <= chips; n++) {
        torus_shape shape;
        if (chips % n != 0 || (n > 1 && (!system->has_dcn || chips / n < least)) ||
            ridge__shape_nearest(system, chips / n, true, 1, &shape) == 0)
            continue;
        const char *text = shape_text(cx, system, &shape);
        *out = n == 1 ? ridge_sprintf(ridge_ctx_arena(cx), "%s:%s", name, text)
                      : ridge_sprintf(ridge_ctx_arena(cx), "%lld*%s:%s", (long long)n,
                                      name, text);
        return *out == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no slices of %s have %lld chips in all", name,
                      (long long)chips);
}

/* Nodes of as many chips as divide them, no more than @p node. */
static ridge_status switched_text(ridge_ctx *cx, const char *name, int64_t chips,
                                  int64_t node, const char **out)
{
    if (node > chips)
        node = chips;
    while (chips % node != 0)
        node--;
    *out = ridge_sprintf(ridge_ctx_arena(cx), "%s:%lldx%lld", name,
                         (long long)(chips / node), (long long)node);
    return *out == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
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
        RIDGE_TRY(torus_text(cx, system, system->name, 1, chips, &text));
    } else {
        RIDGE_TRY(
            switched_text(cx, system->name, chips, system->chips_per_node, &text));
    }
    return ridge_slice_parse(cx, catalog, text, out);
}

/* What stands before the shape: "v5p" of "2*v5p:4x4x4", "here.json" of "here.json:2".
 */
static const char *name_of(ridge_ctx *cx, const ridge_slice *slice)
{
    const char *star = strchr(slice->text, '*');
    const char *start = slice->slices > 1 && star != NULL ? star + 1 : slice->text;
    const char *colon = strrchr(start, ':');
    const size_t n = colon == NULL ? strlen(start) : (size_t)(colon - start);
    return ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){start, n});
}

/* The text of @p base with another number of the same slices, or NULL: it is one slice,
 * or they do not make up that many chips. */
static const char *more_slices(ridge_ctx *cx, const ridge_slice *base, int64_t chips)
{
    const int64_t each = base->chips / base->slices;
    const char *star = strchr(base->text, '*');
    if (base->slices == 1 || star == NULL || chips % each != 0)
        return NULL;
    return ridge_sprintf(ridge_ctx_arena(cx), "%lld*%s", (long long)(chips / each),
                         star + 1);
}

ridge_status ridge_slice_with_chips(ridge_ctx *cx, const ridge_catalog *catalog,
                                    const ridge_slice *base, int64_t chips,
                                    const ridge_slice **out)
{
    const ridge_system *system = base->system;
    if (chips < 1 || base->next != NULL) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "no slice of %lld chips like %s: expected at least 1 chip, of "
            "one kind",
            (long long)chips, base->text);
    }
    if (chips == base->chips) {
        *out = base;
        return RIDGE_OK;
    }
    const char *name = name_of(cx, base);
    if (name == NULL)
        return ridge_fail_nomem(cx);
    const char *text = more_slices(cx, base, chips);
    if (text == NULL && system->torus_dims > 0)
        RIDGE_TRY(torus_text(cx, system, name, base->chips, chips, &text));
    /* a chip alone says nothing of nodes: they are as full as can be */
    const int64_t node = base->chips == 1 ? system->chips_per_node : base->shape[1];
    if (text == NULL)
        RIDGE_TRY(switched_text(cx, name, chips, node, &text));
    return ridge_slice_parse(cx, catalog, text, out);
}
