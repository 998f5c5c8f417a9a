/* Attributes of an instruction that hold on a part as they do on the whole. */
#include "hlo_attribute.h"
#include "spmd_writer.h"

ridge_dim_axes spmd_part_axes(const spmd_part *p, int tensor, int64_t dim)
{
    const ridge_sharding s = spmd_sharding_of(p->w->m, p->op, tensor, p->axes);
    return dim >= 0 && dim < s.n_dims ? s.dims[dim] : (ridge_dim_axes){.n = 0};
}

static bool is_in(ridge_str key, const char *const *list)
{
    for (; list && *list; list++) {
        if (ridge_str_is(key, *list))
            return true;
    }
    return false;
}

static void put_metadata(spmd_writer *w, const ridge_hlo_instruction *i)
{
    ridge_str file;
    int line;
    const ridge_str scope = ridge_hlo_scope_of(i);
    const bool has_source = ridge_hlo_source_of(w->m->whole, i, &file, &line);
    if (scope.n == 0 && !has_source)
        return;
    ridge_buf_printf(w->out, ", metadata={op_name=\"%.*s\"", (int)scope.n, scope.p);
    if (has_source)
        ridge_buf_printf(w->out, " source_file=\"%.*s\" source_line=%d", (int)file.n,
                         file.p, line);
    ridge_buf_puts(w->out, "}");
}

void spmd_attributes_put(spmd_writer *w, const ridge_hlo_instruction *i,
                         const char *const *but)
{
    static const char *const never[] = {"sharding",
                                        "sdy.sharding",
                                        "metadata",
                                        "frontend_attributes",
                                        "to_apply",
                                        "condition",
                                        "body",
                                        "calls",
                                        "branch_computations",
                                        "select",
                                        "scatter",
                                        "true_computation",
                                        "false_computation",
                                        NULL};
    for (int a = 0; a < i->n_attributes; a++) {
        const ridge_hlo_attribute *x = &i->attributes[a];
        if (!is_in(x->key, never) && !is_in(x->key, but))
            ridge_buf_printf(w->out, ", %.*s=%.*s", (int)x->key.n, x->key.p,
                             (int)x->text.n, x->text.p);
    }
    if (i->code == RIDGE_HLO_OP_SELECT_AND_SCATTER && i->n_called == 2)
        ridge_buf_printf(w->out, ", select=%s, scatter=%s",
                         spmd_function_name(w, i->called[0]),
                         spmd_function_name(w, i->called[1]));
    else if (i->n_called == 1 && i->called[0] >= 0)
        ridge_buf_printf(w->out, ", to_apply=%s", spmd_function_name(w, i->called[0]));
    put_metadata(w, i);
}
