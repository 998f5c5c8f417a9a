/*
 * What one mesh axis may do while operands are multiplied, and what that asks of each
 * array. Axes do not depend on each other here but for their order on a dim.
 */
#include "axis_modes.h"

ridge_axis_state ridge__axis_mode_state(const ridge_expr *expr, ridge_axis_mode mode,
                                        int operand)
{
    const bool is_product = operand == expr->n_inputs;
    if (mode < 0)
        return RIDGE_AXIS_REPLICATED;
    if (mode >= expr->n_dims) {
        return is_product || operand == mode - expr->n_dims ? RIDGE_AXIS_PARTIAL
                                                            : RIDGE_AXIS_REPLICATED;
    }
    const int at = ridge__dim_place(ridge_expr_operand(expr, operand), mode);
    if (at >= 0)
        return at;
    return is_product ? RIDGE_AXIS_PARTIAL : RIDGE_AXIS_REPLICATED;
}

/* What a mode asks of each array: from one state to another. */
typedef struct mode_steps {
    ridge_axis_state from[RIDGE_EXPR_INPUT_MAX + 1];
    ridge_axis_state to[RIDGE_EXPR_INPUT_MAX + 1];
} mode_steps;

/* @return false: it asks for partial sums where there are none */
static bool steps_of(const ridge_expr *expr, int axis, ridge_axis_mode mode,
                     mode_steps *out)
{
    for (int i = 0; i <= expr->n_inputs; i++) {
        const ridge_axis_state given =
            ridge__axis_state(&ridge_expr_operand(expr, i)->sharding, axis);
        const ridge_axis_state used = ridge__axis_mode_state(expr, mode, i);
        const bool is_product = i == expr->n_inputs;
        out->from[i] = is_product ? used : given;
        out->to[i] = is_product ? given : used;
        if (out->to[i] == RIDGE_AXIS_PARTIAL && out->from[i] != RIDGE_AXIS_PARTIAL)
            return false;
    }
    return true;
}

/* Whether a's steps are among those of b, which has more. */
static bool is_part(const ridge_expr *expr, const mode_steps *a, const mode_steps *b)
{
    bool is_less = false;
    for (int i = 0; i <= expr->n_inputs; i++) {
        const bool a_moves = a->from[i] != a->to[i];
        const bool b_moves = b->from[i] != b->to[i];
        if (a_moves && (a->from[i] != b->from[i] || a->to[i] != b->to[i]))
            return false;
        is_less = is_less || (b_moves && !a_moves);
    }
    return is_less;
}

int ridge__axis_modes_find(const ridge_expr *expr, int axis, ridge_axis_mode *out)
{
    mode_steps steps[RIDGE_AXIS_MODE_MAX];
    ridge_axis_mode modes[RIDGE_AXIS_MODE_MAX];
    int n = 0, kept = 0;
    for (int mode = -1; mode < expr->n_dims + expr->n_inputs; mode++) {
        if (steps_of(expr, axis, mode, &steps[n]))
            modes[n++] = mode;
    }
    for (int m = 0; m < n; m++) {
        bool is_needless = false;
        for (int other = 0; other < n; other++)
            is_needless = is_needless || is_part(expr, &steps[other], &steps[m]);
        if (!is_needless)
            out[kept++] = modes[m];
    }
    return kept;
}
