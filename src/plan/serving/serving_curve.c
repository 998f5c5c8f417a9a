/* Prices of rows as tables of one number, shared by the layouts that have them alike.
 */
#include "serving_curve.h"

#include "serving_knots.h"

#include <string.h>

static double rows_s(const void *bench, double rows)
{
    return serving_rows_total_s(bench, rows);
}

static double head_s(const void *bench, double sampled)
{
    return serving_head_price(bench, sampled);
}

static double rank_rows_s(const void *bench, double rows)
{
    return serving_rank_rows_s(bench, rows);
}

const double *serving_curve_copy(ridge_serving_desk *desk, const double *x, int n)
{
    double *copy = ridge_new(ridge_ctx_arena(desk->cx), double, (size_t)n);
    if (copy != NULL)
        memcpy(copy, x, (size_t)n * sizeof *copy);
    return copy;
}

static bool curve_build(const serving_bench *b, serving_knot_fn *f, double most,
                        ridge_curve_table *out)
{
    serving_knots k = {.payload = b, .f = f, .depth = SERVING_ROW_DEPTH};
    serving_knots_find(&k, 1, most);
    *out = (ridge_curve_table){k.n, serving_curve_copy(b->desk, k.x, k.n),
                               serving_curve_copy(b->desk, k.y, k.n)};
    return out->x != NULL && out->y != NULL;
}

static bool curve_keep(ridge_serving_desk *desk, const serving_key *key,
                       const ridge_curve_table *curve)
{
    ridge_arena *arena = ridge_ctx_arena(desk->cx);
    if (desk->n_curves == desk->cap_curves) {
        const int cap = desk->cap_curves == 0 ? 64 : 2 * desk->cap_curves;
        ridge_curve_table *more = ridge_new(arena, ridge_curve_table, (size_t)cap);
        if (more == NULL)
            return false;
        if (desk->n_curves > 0)
            memcpy(more, desk->curves, (size_t)desk->n_curves * sizeof *more);
        desk->curves = more;
        desk->cap_curves = cap;
    }
    desk->curves[desk->n_curves] = *curve;
    const serving_price place = {{(double)desk->n_curves++}};
    serving_memo_put(arena, &desk->memo, key, &place);
    return true;
}

/* Layouts that differ in their caches alone share a curve. */
static serving_key rows_key(const serving_bench *b, double most)
{
    const ridge_serving_layout *l = b->layout;
    return (serving_key){.of = {SERVING_KEY_CURVES + SERVING_CURVE_ROWS, b->formats_key,
                                l->tp << 32 | l->pp, l->ep << 32 | l->attention_dp,
                                l->tp_d << 32 | (int64_t)l->placement << 2 |
                                    (l->is_weight_gathered ? 2 : 0) |
                                    (l->has_two_batches ? 1 : 0),
                                l->redundant_experts},
                         .at = {most}};
}

/* The head, and what a rank does by itself, know of no experts and no stages; the
 * latter of no other ranks. */
static serving_key rank_key(const serving_bench *b, serving_curve_kind kind,
                            double most)
{
    const ridge_serving_layout *l = b->layout;
    return (serving_key){.of = {SERVING_KEY_CURVES + (int)kind, b->formats_key, l->tp,
                                b->tp_key,
                                kind == SERVING_CURVE_HEAD ? l->attention_dp : 0,
                                l->tp_d << 1 | (l->is_weight_gathered ? 1 : 0)},
                         .at = {most}};
}

bool serving_curve_find(const serving_bench *b, serving_curve_kind kind, double most,
                        ridge_curve_table *out)
{
    static serving_knot_fn *const prices[] = {rows_s, head_s, rank_rows_s};
    const serving_key key =
        kind == SERVING_CURVE_ROWS ? rows_key(b, most) : rank_key(b, kind, most);
    const serving_price *known = serving_memo_find(&b->desk->memo, &key);
    if (known != NULL) {
        *out = b->desk->curves[(int)known->of[0]];
        return true;
    }
    return curve_build(b, prices[kind], most, out) && curve_keep(b->desk, &key, out);
}
