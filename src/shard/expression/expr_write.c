/* Expressions and strategies as text: what expr_parse.c reads. */
#include "axes_text.h"

#include <string.h>

const ridge_expr_tensor *ridge_expr_operand(const ridge_expr *expr, int operand)
{
    return operand < expr->n_inputs ? &expr->inputs[operand] : &expr->output;
}

void ridge_expr_tensor_sizes(const ridge_expr *expr, const ridge_expr_tensor *t,
                             int64_t *sizes)
{
    for (int d = 0; d < t->n_dims; d++)
        sizes[d] = expr->dims[t->dims[d]].size;
}

void ridge_expr_tensor_write(const ridge_expr *expr, const ridge_expr_tensor *t,
                             ridge_buf *out)
{
    ridge_buf_printf(out, "%s[", t->name);
    for (int d = 0; d < t->n_dims; d++) {
        const ridge_dim_axes *axes = &t->sharding.dims[d];
        ridge_buf_printf(out, "%s%s", d ? "," : "", expr->dims[t->dims[d]].name);
        if (axes->n > 0) {
            ridge_buf_puts(out, "@");
            ridge__axes_write(&expr->mesh, axes->axes, axes->n, out);
        }
    }
    ridge_buf_puts(out, "]");
    if (!t->sharding.partial)
        return;
    int axes[RIDGE_MESH_AXIS_MAX], n = 0;
    for (int a = 0; a < expr->mesh.n; a++) {
        if (t->sharding.partial & (1u << a))
            axes[n++] = a;
    }
    ridge_buf_puts(out, "{U@");
    ridge__axes_write(&expr->mesh, axes, n, out);
    ridge_buf_puts(out, "}");
}

void ridge_expr_write(const ridge_expr *expr, ridge_buf *out)
{
    for (int i = 0; i < expr->n_inputs; i++) {
        ridge_buf_puts(out, i ? " * " : "");
        ridge_expr_tensor_write(expr, &expr->inputs[i], out);
    }
    ridge_buf_puts(out, " -> ");
    ridge_expr_tensor_write(expr, &expr->output, out);
}

void ridge_strategy_write(const ridge_expr *expr, const ridge_strategy *s,
                          ridge_buf *out)
{
    for (int i = 0; i < s->n_steps; i++) {
        if (i == s->n_before)
            ridge_buf_puts(out, "multiply; ");
        ridge_reshard_write(expr, &s->steps[i], out);
        ridge_buf_puts(out, i + 1 < s->n_steps ? "; " : "");
    }
    if (s->n_before == s->n_steps)
        ridge_buf_puts(out, s->n_steps ? "; multiply" : "multiply");
}

/* ---- faults ------------------------------------------------------------------- */

/* Characters shown of a long text; a short one is shown whole. */
enum { FAULT_SHORT = 100, FAULT_BEFORE = 60, FAULT_AFTER = 20 };

void ridge_expr_fault_write(const ridge_expr_fault *fault, ridge_buf *out)
{
    if (!fault->text || fault->column < 1)
        return;
    const size_t length = strlen(fault->text);
    const size_t at = fault->column - 1 < length ? fault->column - 1 : length;
    const bool is_long = length > FAULT_SHORT;
    const size_t from = is_long && at > FAULT_BEFORE ? at - FAULT_BEFORE : 0;
    const size_t end = is_long && length - at > FAULT_AFTER ? at + FAULT_AFTER : length;
    ridge_buf_puts(out, "  ");
    for (size_t i = from; i < end; i++) {
        const char c = fault->text[i];
        ridge_buf_pad(out, c >= ' ' && c <= '~' ? c : '?', 1);
    }
    ridge_buf_puts(out, "\n  ");
    ridge_buf_pad(out, ' ', at - from);
    ridge_buf_puts(out, "^\n");
}

static const char *dim_name(const ridge_expr *expr, const ridge_expr_tensor *t, int at)
{
    return expr->dims[t->dims[at]].name;
}

void ridge_reshard_write(const ridge_expr *expr, const ridge_reshard *step,
                         ridge_buf *out)
{
    const ridge_expr_tensor *t = ridge_expr_operand(expr, step->operand);
    ridge_buf_printf(out, "%s_", ridge_step_kind_text(step->kind));
    ridge__axes_write(&expr->mesh, step->axes, step->n_axes, out);
    ridge_buf_printf(out, " %s", t->name);
    if (step->kind == RIDGE_STEP_ALL_TO_ALL) {
        ridge_buf_printf(out, " from %s to %s", dim_name(expr, t, step->dim_from),
                         dim_name(expr, t, step->dim_to));
    } else if (step->dim_to >= 0) {
        ridge_buf_printf(out, " over %s", dim_name(expr, t, step->dim_to));
    }
}
