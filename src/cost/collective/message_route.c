/* The way of one message between two chips of a torus: hops, and links to send over. */
#include "ridge/cost.h"

static const char how[] = "write a coordinate of each axis, as in 0,0 or 3,0,1";

static ridge_status read_place(ridge_ctx *cx, const ridge_slice *slice,
                               const char *text, int64_t *out)
{
    ridge_str rest = ridge_str_of(text);
    for (int i = 0; i < slice->n_axes; i++) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        if (item.n == 0 || !ridge_parse_i64(item, &out[i]) ||
            (i + 1 < slice->n_axes) != (rest.p != NULL)) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "'%.40s' is no chip of %s, which has %d axes: %s", text,
                              slice->text, slice->n_axes, how);
        }
        if (out[i] < 0 || out[i] >= slice->axes[i].size) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "'%.40s' is no chip of %s: %s goes from 0 to %lld", text,
                              slice->text, slice->axes[i].name,
                              (long long)slice->axes[i].size - 1);
        }
    }
    return RIDGE_OK;
}

/* Links of a chip on one axis: none on an axis of one, both ways but at a line's end.
 */
static int ports_at(const ridge_axis *axis, int64_t at)
{
    if (axis->size < 2)
        return 0;
    const bool is_end = at == 0 || at == axis->size - 1;
    return is_end && !(axis->has_wraparound && axis->size > 2) ? 1 : 2;
}

static int64_t distance(const ridge_axis *axis, int64_t a, int64_t b)
{
    const int64_t d = a < b ? b - a : a - b;
    return axis->has_wraparound && axis->size - d < d ? axis->size - d : d;
}

ridge_status ridge_message_route_parse(ridge_ctx *cx, const ridge_slice *slice,
                                       const char *from, const char *to,
                                       ridge_message_route *out)
{
    int64_t places[2][RIDGE_AXIS_MAX];
    ridge_message_route r = {.hops = 0};
    int ports[2] = {0, 0};
    for (int i = 0; i < slice->n_axes; i++) {
        if (slice->axes[i].kind != RIDGE_AXIS_TORUS)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "chips of %s have no places on a torus: leave --from and "
                              "--to out",
                              slice->text);
    }
    RIDGE_TRY(read_place(cx, slice, from, places[0]));
    RIDGE_TRY(read_place(cx, slice, to, places[1]));
    for (int i = 0; i < slice->n_axes; i++) {
        const ridge_axis *axis = &slice->axes[i];
        r.hops += distance(axis, places[0][i], places[1][i]);
        ports[0] += ports_at(axis, places[0][i]);
        ports[1] += ports_at(axis, places[1][i]);
    }
    if (r.hops == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "--from and --to are the same chip: nothing "
                          "moves");
    r.ports = ports[0] < ports[1] ? ports[0] : ports[1];
    *out = r;
    return RIDGE_OK;
}
