/* Where a module's time, work and traffic go. */
#include "hlo_section.h"

#include <string.h>

enum { NAME_MOST = 44 };

/* The end of a long name tells more than its start. */
static const char *shortened(ridge_ctx *cx, const char *name)
{
    const size_t n = strlen(name);
    if (n <= NAME_MOST)
        return name;
    const char *cut =
        ridge_sprintf(ridge_ctx_arena(cx), "..%s", name + n - (NAME_MOST - 2));
    return cut ? cut : "";
}

static void seconds_cell(ridge_table *t, double s)
{
    ridge_table_cell(t, ridge_format_seconds(s).s);
}

static void share_cell(ridge_table *t, double part, double whole)
{
    ridge_table_cell(t, whole > 0 ? ridge_format_percent(part / whole).s : "");
}

static void work_cells(ridge_table *t, double flops, double bytes)
{
    ridge_table_cell(t, flops > 0 ? ridge_format_si(flops, "").s : "");
    ridge_table_cell(t, bytes > 0 ? ridge_format_bytes(bytes).s : "");
}

static void add_categories(ridge_ctx *cx, const ridge_hlo_study *s, ridge_sections *out)
{
    ridge_table *t = ridge__section_add(
        cx, out, "By category",
        s->slice ? "category|>kernels|>FLOPs|>bytes|>expected|>share|>bound"
                 : "category|>kernels|>FLOPs|>bytes");
    for (int c = 0; c < RIDGE_HLO_CATEGORY_COUNT; c++) {
        const ridge_hlo_share *share = &s->shares[c];
        if (share->n == 0)
            continue;
        ridge_table_cell(t, ridge_hlo_category_text((ridge_hlo_category)c));
        ridge_table_cell(t, ridge_format_exact(share->n).s);
        work_cells(t, share->flops, share->bytes);
        if (!s->slice)
            continue;
        seconds_cell(t, share->exposed_s);
        share_cell(t, share->exposed_s, s->expected_s);
        seconds_cell(t, share->bound_s);
    }
    if (s->slice)
        ridge__section_note(out, "Expected: what the run waits for; collectives and "
                                 "copies beside compute count only where exposed.");
}

/* ---- kernels ----------------------------------------------------------------------
 */

static const char *what_of(ridge_ctx *cx, const ridge_hlo_op *op)
{
    return op->detail[0]
               ? ridge_sprintf(ridge_ctx_arena(cx), "%s %s", op->code, op->detail)
               : op->code;
}

static void add_kernel(ridge_ctx *cx, const ridge_hlo_study *s, const ridge_hlo_op *op,
                       ridge_table *t)
{
    const double flops = op->matmul_flops + op->vector_flops;
    ridge_table_cell(t, shortened(cx, op->name));
    ridge_table_cell(t, shortened(cx, what_of(cx, op)));
    ridge_table_cell(t, ridge_format_count(op->times).s);
    ridge_table_cell(t, op->is_unknown ? "unknown"
                        : flops > 0    ? ridge_format_si(flops, "").s
                                       : "");
    ridge_table_cell(t, ridge_format_bytes(op->bytes).s);
    ridge_table_cell(
        t, op->bytes > 0 && flops > 0 ? ridge_format_double(flops / op->bytes).s : "");
    if (!s->slice)
        return;
    seconds_cell(t, op->expected_s);
    seconds_cell(t, op->bound_s);
    ridge_table_cell(t,
                     op->expected_s > 0 ? ridge_bound_text(op->expected_bound_by) : "");
    share_cell(t, ridge__hlo_waited_s(op), s->expected_s);
}

static void add_kernels(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_study *s = view->study;
    const int *order = ridge__hlo_rank(cx, s);
    ridge_table *t = ridge__section_add(
        cx, out, "Largest kernels",
        s->slice
            ? "kernel|what|>times|>FLOPs|>bytes|>FLOPs/byte|>expected|>bound|bound "
              "by|>share"
            : "kernel|what|>times|>FLOPs|>bytes|>FLOPs/byte");
    for (int k = 0; order && k < s->n_ops && k < view->top; k++)
        add_kernel(cx, s, &s->ops[order[k]], t);
    if (s->n_ops > view->top)
        ridge__section_note(out,
                            ridge_sprintf(ridge_ctx_arena(cx),
                                          "%d more: --top N or --json. FLOPs, bytes "
                                          "and times are of one run of each.",
                                          s->n_ops - view->top));
}

/* ---- collectives ------------------------------------------------------------------
 */

static void add_collectives(ridge_ctx *cx, const ridge_hlo_view *view,
                            ridge_sections *out)
{
    const ridge_hlo_study *s = view->study;
    const int *order = ridge__hlo_rank(cx, s);
    int shown = 0, all = 0;
    if (s->shares[RIDGE_HLO_CATEGORY_COLLECTIVE].n == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, out, "Collectives",
        s->slice ? "collective|groups|>array of a "
                   "group|>times|>expected|>bound|>exposed|>hidden|by|>bus bandwidth"
                 : "collective|groups|>array of a group|>times");
    for (int k = 0; order && k < s->n_ops; k++) {
        const ridge_hlo_op *op = &s->ops[order[k]];
        const ridge_hlo_collective *c = op->collective;
        if (c == NULL || (all++ >= view->top))
            continue;
        shown++;
        ridge_table_cellf(t, "%s%s", c->kind_text, c->is_async ? " (async)" : "");
        ridge_table_cell(t, op->detail);
        ridge_table_cell(t, ridge_format_bytes(c->bytes).s);
        ridge_table_cell(t, ridge_format_count(op->times).s);
        if (!s->slice)
            continue;
        seconds_cell(t, op->expected_s);
        seconds_cell(t, op->bound_s);
        seconds_cell(t, op->times * op->exposed_s);
        seconds_cell(t, op->times * op->hidden_s);
        ridge_table_cell(t, c->ranks > 1 ? ridge_algorithm_text(c->algorithm) : "");
        ridge_table_cell(t, ridge_format_si(c->bus_bytes_per_s, "B/s").s);
    }
    if (all > shown)
        ridge__section_note(out,
                            ridge_sprintf(ridge_ctx_arena(cx),
                                          "%d more: --top N or --json.", all - shown));
}

static void add_degrees(ridge_ctx *cx, const ridge_hlo_study *s, ridge_sections *out)
{
    if (s->n_degrees == 0)
        return;
    ridge_table *t =
        ridge__section_add(cx, out, "Cut over the devices",
                           "axis|>ways|>stride|>collectives|>bytes of groups");
    for (int d = 0; d < s->n_degrees; d++) {
        ridge_table_cellf(t, "%c", s->degrees[d].letter);
        ridge_table_cell(t, ridge_format_exact(s->degrees[d].ways).s);
        ridge_table_cell(t, s->degrees[d].stride
                                ? ridge_format_exact(s->degrees[d].stride).s
                                : "uneven");
        ridge_table_cell(t, ridge_format_exact(s->degrees[d].n_collectives).s);
        ridge_table_cell(t, ridge_format_bytes(s->degrees[d].bytes).s);
    }
    ridge__section_note(out, "As the groups of the collectives tell: groups of so many "
                             "devices, so far apart.");
}

/* ---- groupings --------------------------------------------------------------------
 */

typedef struct grouping {
    ridge_hlo_grouping by;
    const char *title, *key;
} grouping;

static void add_buckets(ridge_ctx *cx, const ridge_hlo_view *view, const grouping *g,
                        ridge_sections *out)
{
    const ridge_hlo_study *s = view->study;
    const ridge_hlo_grouping by = g->by;
    const int n = s->n_buckets[by];
    const bool is_told = n > 1 || (n == 1 && s->buckets[by][0].key[0] != '(');
    if (!is_told)
        return;
    ridge_table *t = ridge__section_add(
        cx, out, g->title,
        ridge_sprintf(ridge_ctx_arena(cx), "%s|>kernels|>FLOPs|>bytes%s", g->key,
                      s->slice ? "|>expected|>share" : ""));
    for (int k = 0; k < n && k < view->top; k++) {
        const ridge_hlo_bucket *b = &s->buckets[by][k];
        ridge_table_cell(t, shortened(cx, b->key));
        ridge_table_cell(t, ridge_format_exact(b->n).s);
        work_cells(t, b->flops, b->bytes);
        if (!s->slice)
            continue;
        seconds_cell(t, b->expected_s);
        share_cell(t, b->expected_s, s->expected_s);
    }
}

static const grouping groupings[] = {
    {RIDGE_HLO_BY_CODE, "By operation", "operation"},
    {RIDGE_HLO_BY_SCOPE, "By scope", "scope"},
    {RIDGE_HLO_BY_SOURCE, "By source line", "source"},
    {RIDGE_HLO_BY_LAYER, "By computation", "computation"},
};

void ridge__hlo_add_work(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    add_categories(cx, view->study, out);
    add_kernels(cx, view, out);
    add_collectives(cx, view, out);
    add_degrees(cx, view->study, out);
    for (size_t i = 0; i < RIDGE_COUNT_OF(groupings); i++)
        add_buckets(cx, view, &groupings[i], out);
}
