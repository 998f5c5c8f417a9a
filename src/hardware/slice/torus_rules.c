/*
 * Which torus slices exist and which of their axes wrap around.
 *
 * cubes-of-4 (TPU v4, v5p, v7): racks of 4x4x4 chips are joined by optical switches, so
 * a slice is a box of whole cubes, and every axis is a ring; below a cube there are
 * 2x2x2, 2x2x4 and 2x4x4, and pieces of one host, all without rings. Boxes of whole
 * hosts in one cube that are one chip thin are not offered, but are there in each cube.
 *
 * full-axis (TPU v2, v3, v5e, v6e): a rectangle of a fixed 2D torus with sides of
 * powers of two, at most 1:2; only a side of the whole torus's length is a ring.
 *
 * never: any box, no rings.
 *
 * @source jouppi-2023, section 2; google-tpu-docs; scaling-book-2025, chapter 2
 */
#include "torus_rules.h"

#include <string.h>

int64_t ridge__shape_chips(const torus_shape *shape)
{
    int64_t n = shape->length[0];
    for (int i = 1; i < 3; i++) {
        if (!ridge_mul_i64(n, shape->length[i], &n))
            return INT64_MAX;
    }
    return n;
}

static void swap_if_greater(int64_t *a, int64_t *b)
{
    if (*a > *b) {
        const int64_t t = *a;
        *a = *b;
        *b = t;
    }
}

/* The first dims lengths in ascending order. */
static torus_shape ascending(const int64_t length[3], int dims)
{
    torus_shape s = {{length[0], length[1], length[2]}};
    swap_if_greater(&s.length[0], &s.length[1]);
    if (dims == 3) {
        swap_if_greater(&s.length[1], &s.length[2]);
        swap_if_greater(&s.length[0], &s.length[1]);
    }
    return s;
}

static bool fits_in(const torus_shape *small, const int64_t max[3], int dims)
{
    const torus_shape large = ascending(max, dims);
    for (int i = 0; i < 3; i++) {
        if (small->length[i] < 1 || small->length[i] > large.length[i])
            return false;
    }
    return true;
}

static bool is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static bool is_whole_cubes(const torus_shape *s)
{
    return s->length[0] % 4 == 0 && s->length[1] % 4 == 0 && s->length[2] % 4 == 0;
}

/* Part of one host that divides it evenly: a chip, a pair, a host. */
static bool is_host_piece(const ridge_system *system, const torus_shape *s)
{
    const torus_shape host = ascending(system->host_shape, system->torus_dims);
    for (int i = 0; i < 3; i++) {
        if (host.length[i] % s->length[i] != 0)
            return false;
    }
    return true;
}

static bool is_within_cube(const torus_shape *s)
{
    for (int i = 0; i < 3; i++) {
        if (s->length[i] != 2 && s->length[i] != 4)
            return false;
    }
    return true;
}

/* Two sides of whole hosts, one chip thin: 1x2x4, 1x4x4. */
static bool is_thin_within_cube(const torus_shape *s)
{
    return s->length[0] == 1 && (s->length[1] == 2 || s->length[1] == 4) &&
           s->length[2] == 4;
}

/* Sides of powers of two; in 2D the longer at most twice the shorter. */
static bool is_pod_fraction(const torus_shape *s, int dims)
{
    for (int i = 0; i < 3; i++) {
        if (!is_power_of_two(s->length[i]))
            return false;
    }
    return dims == 3 || s->length[1] <= 2 * s->length[0];
}

static bool is_legal_ascending(const ridge_system *system, const torus_shape *s)
{
    if (!fits_in(s, system->torus_max, system->torus_dims))
        return false;
    switch (system->wrap_rule) {
    case RIDGE_WRAP_CUBES_OF_4:
        return is_host_piece(system, s) ||
               (system->torus_dims == 3 && (is_within_cube(s) || is_whole_cubes(s)));
    case RIDGE_WRAP_FULL_AXIS:
        return is_pod_fraction(s, system->torus_dims);
    case RIDGE_WRAP_NEVER:
        return true;
    }
    return false;
}

bool ridge__shape_is_legal(const ridge_system *system, const torus_shape *shape)
{
    const torus_shape s = ascending(shape->length, system->torus_dims);
    return is_legal_ascending(system, &s);
}

bool ridge__shape_is_part(const ridge_system *system, const torus_shape *shape)
{
    const torus_shape s = ascending(shape->length, system->torus_dims);
    return system->wrap_rule == RIDGE_WRAP_CUBES_OF_4 && system->torus_dims == 3 &&
           is_thin_within_cube(&s);
}

bool ridge__shape_wraps(const ridge_system *system, const torus_shape *shape, int i)
{
    const torus_shape max = ascending(system->torus_max, system->torus_dims);
    switch (system->wrap_rule) {
    case RIDGE_WRAP_CUBES_OF_4:
        return is_whole_cubes(shape);
    case RIDGE_WRAP_FULL_AXIS:
        return shape->length[i] > 2 &&
               shape->length[i] == max.length[system->torus_dims - 1];
    case RIDGE_WRAP_NEVER:
        return false;
    }
    return false;
}

/* n x n x 2n and n x 2n x 2n of whole cubes. */
bool ridge__shape_can_twist(const ridge_system *system, const torus_shape *shape)
{
    if (system->wrap_rule != RIDGE_WRAP_CUBES_OF_4 || !is_whole_cubes(shape))
        return false;
    const torus_shape s = ascending(shape->length, system->torus_dims);
    const int64_t n = s.length[0];
    return s.length[2] == 2 * n && (s.length[1] == n || s.length[1] == 2 * n);
}

const char *ridge__shape_list_text(ridge_ctx *cx, const ridge_system *system,
                                   const torus_shape *shapes, int n)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < system->torus_dims; k++) {
            ridge_buf_printf(&b, "%s%lld", k > 0 ? "x" : (i > 0 ? ", " : ""),
                             (long long)shapes[i].length[k]);
        }
    }
    return ridge_buf_text(&b);
}

const char *ridge__shape_rule(ridge_ctx *cx, const ridge_system *system)
{
    const torus_shape max = ascending(system->torus_max, system->torus_dims);
    const char *most = ridge__shape_list_text(cx, system, &max, 1);
    const char *text = NULL;
    switch (system->wrap_rule) {
    case RIDGE_WRAP_CUBES_OF_4:
        text = ridge_sprintf(ridge_ctx_arena(cx),
                             "every axis a multiple of 4 up to %s, or a part of a "
                             "4x4x4 cube: 2x2x1, 2x2x2, 2x2x4, 2x4x4",
                             most);
        break;
    case RIDGE_WRAP_FULL_AXIS:
        text = ridge_sprintf(ridge_ctx_arena(cx),
                             system->torus_dims == 2
                                 ? "axes of powers of two up to %s, one at most twice "
                                   "the other"
                                 : "axes of powers of two up to %s",
                             most);
        break;
    case RIDGE_WRAP_NEVER:
        text = ridge_sprintf(ridge_ctx_arena(cx), "axes up to %s", most);
        break;
    }
    return text != NULL ? text : "";
}

/* ---- the nearest legal shapes ---------------------------------------------------- */

/* The best shapes so far, in order. */
typedef struct shape_ranking {
    int64_t wanted;
    int most;
    int n;
    torus_shape *best;
} shape_ranking;

static int64_t distance(const shape_ranking *r, const torus_shape *s)
{
    const int64_t d = ridge__shape_chips(s) - r->wanted;
    return d < 0 ? -d : d;
}

/* Nearer first, then the one with more chips, then with the smaller longest side. */
static bool is_better(const shape_ranking *r, const torus_shape *a,
                      const torus_shape *b, int dims)
{
    const int64_t da = distance(r, a);
    const int64_t db = distance(r, b);
    const int64_t na = ridge__shape_chips(a);
    const int64_t nb = ridge__shape_chips(b);
    if (da != db)
        return da < db;
    if (na != nb)
        return na > nb;
    return a->length[dims - 1] < b->length[dims - 1];
}

static void offer_shape(shape_ranking *r, const torus_shape *s, int dims)
{
    int at = r->n;
    while (at > 0 && is_better(r, s, &r->best[at - 1], dims))
        at--;
    if (at == r->most)
        return;
    if (r->n < r->most)
        r->n++;
    memmove(&r->best[at + 1], &r->best[at], (size_t)(r->n - at - 1) * sizeof *r->best);
    r->best[at] = *s;
}

/* Legal shapes x by y by z for x <= y <= z of one x. */
static void offer_from(shape_ranking *r, const ridge_system *system, int64_t x,
                       bool is_exact)
{
    const int dims = system->torus_dims;
    const torus_shape max = ascending(system->torus_max, dims);
    const int64_t z_last = dims == 3 ? max.length[2] : 1;
    for (int64_t y = x; y <= max.length[1]; y++) {
        for (int64_t z = dims == 3 ? y : 1; z <= z_last; z++) {
            const torus_shape s = {{x, y, z}};
            if (is_exact && ridge__shape_chips(&s) != r->wanted)
                continue;
            if (is_legal_ascending(system, &s))
                offer_shape(r, &s, dims);
        }
    }
}

int ridge__shape_nearest(const ridge_system *system, int64_t chips, bool is_exact,
                         int most, torus_shape *out)
{
    const torus_shape max = ascending(system->torus_max, system->torus_dims);
    shape_ranking r = {.wanted = chips, .most = most, .best = out};
    for (int64_t x = 1; x <= max.length[0]; x++)
        offer_from(&r, system, x, is_exact);
    return r.n;
}

ridge_status ridge__torus_of_cores(ridge_ctx *cx, const ridge_system *system,
                                   const char *text, int64_t cores, int64_t *shape,
                                   int *rank)
{
    enum { NEAR = 3 };
    const int64_t each = system->chip->cores;
    const int64_t chips = cores / each;
    torus_shape found[NEAR];
    if (cores == each) { /* one chip, which has no shape */
        *rank = 0;
        return RIDGE_OK;
    }
    if (chips < 1 || cores % each != 0 ||
        ridge__shape_nearest(system, chips, true, 1, found) == 0) {
        const int n =
            ridge__shape_nearest(system, chips < 1 ? 1 : chips, false, NEAR, found);
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.60s': no slice of %s has %lld TensorCores (%lld a chip): "
                          "the nearest are %s chips",
                          text, system->name, (long long)cores, (long long)each,
                          ridge__shape_list_text(cx, system, found, n));
    }
    *rank = system->torus_dims;
    for (int i = 0; i < *rank; i++)
        shape[i] = found[0].length[i];
    return RIDGE_OK;
}
