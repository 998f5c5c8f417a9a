/* LongRoPE: a divisor for each pair of a head, within the context that a model was
 * trained on and beyond it. @source ding2024-longrope */
#include "numerics_scales.h"

static ridge_status read_factors(ridge_ctx *cx, const ridge_node *s, const char *key,
                                 size_t *n, const double **out)
{
    const ridge_node list = ridge_json_get(s, key);
    const size_t count = ridge_json_size(list);
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY || count == 0)
        return ridge_json_fail(cx, *s,
                               "longrope has lists short_factor and long_factor");
    if (*n > 0 && count != *n)
        return ridge_json_fail(cx, list, "long_factor is as long as short_factor");
    double *factors = ridge_new(ridge_ctx_arena(cx), double, count);
    if (factors == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < count; i++)
        RIDGE_TRY(ridge_json_want_double(cx, ridge_json_at(&list, i), 1e-6, 1e6,
                                         &factors[i]));
    *n = count;
    *out = factors;
    return RIDGE_OK;
}

static ridge_status read_positive(ridge_ctx *cx, const ridge_node *s, const char *key,
                                  double *out)
{
    const ridge_node x = ridge_json_get(s, key);
    return ridge_json_is_absent(x) ? RIDGE_OK
                                   : ridge_json_want_double(cx, x, 1e-6, 1e12, out);
}

ridge_status ridge__numerics_read_long(ridge_ctx *cx, const ridge_node *s,
                                       ridge_numerics *n)
{
    n->n_factors = 0;
    RIDGE_TRY(read_factors(cx, s, "short_factor", &n->n_factors, &n->short_factors));
    RIDGE_TRY(read_factors(cx, s, "long_factor", &n->n_factors, &n->long_factors));
    RIDGE_TRY(read_positive(cx, s, "attention_factor", &n->attention_factor));
    return read_positive(cx, s, "original_max_position_embeddings",
                         &n->original_positions);
}
