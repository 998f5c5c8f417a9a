/* Memory of a module at its peak, and what padding costs. */
#include "hlo_section.h"

static void bytes_pair(ridge_table *t, const char *name, double bytes)
{
    ridge__table_pair(t, name, ridge_format_bytes(bytes).s);
}

static void add_totals(ridge_ctx *cx, const ridge_hlo_study *s, ridge_sections *out)
{
    const ridge_hlo_memory *m = &s->memory;
    ridge_table *t = ridge__section_add(cx, out, "Memory", "|>");
    bytes_pair(t, "arguments", m->argument_bytes);
    bytes_pair(t, "results", m->output_bytes);
    if (m->alias_bytes > 0)
        bytes_pair(t, "results in the place of arguments", m->alias_bytes);
    bytes_pair(t, "temporaries and results, at most", m->temporary_bytes);
    bytes_pair(t, "peak", m->peak_bytes);
    if (m->fast_bytes > 0)
        bytes_pair(t, "fast memory, at most", m->fast_bytes);
    if (m->host_bytes > 0)
        bytes_pair(t, "host memory, at most", m->host_bytes);
    if (s->slice) {
        const double hbm = ridge_chip_memory_bytes(s->slice->chip);
        bytes_pair(t, "HBM of a chip", hbm);
        if (m->peak_bytes > hbm)
            ridge__section_note(out, "It does not fit.");
    }
}

static void add_buffers(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_memory *m = &view->study->memory;
    ridge_table *t =
        ridge__section_add(cx, out, "Live at the peak", "value|shape|role|>bytes");
    for (int k = 0; k < m->n_buffers && k < view->top; k++) {
        ridge_table_cell(t, m->buffers[k].name);
        ridge_table_cell(t, m->buffers[k].shape);
        ridge_table_cell(t, m->buffers[k].role);
        ridge_table_cell(t, ridge_format_bytes(m->buffers[k].bytes).s);
    }
    if (m->peak_at[0])
        ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx),
                                               "At %s. By liveness in the order of the "
                                               "text; an allocator loses some more.",
                                               m->peak_at));
}

/* Kernels whose traffic padding adds most to. */
static void add_padding(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_study *s = view->study;
    const int *order = ridge__hlo_rank(cx, s);
    ridge_table *t = NULL;
    int n = 0;
    for (int k = 0; order && k < s->n_ops && n < view->top; k++) {
        const ridge_hlo_op *op = &s->ops[order[k]];
        const double waste = op->padded_bytes - op->bytes;
        if (waste <= 0.02 * s->bytes / (op->times > 0 ? op->times : 1))
            continue;
        if (t == NULL)
            t = ridge__section_add(cx, out, "Padding",
                                   "kernel|shape|>factor|>bytes more in all");
        ridge_table_cell(t, op->name);
        ridge_table_cell(t, op->shape);
        ridge_table_cellf(t, "%.3g", op->padded_bytes / op->bytes);
        ridge_table_cell(t, ridge_format_bytes(waste * op->times).s);
        n++;
    }
}

void ridge__hlo_add_memory(ridge_ctx *cx, const ridge_hlo_view *view,
                           ridge_sections *out)
{
    if (view->study->memory.peak_bytes > 0) {
        add_totals(cx, view->study, out);
        add_buffers(cx, view, out);
    }
    add_padding(cx, view, out);
}
