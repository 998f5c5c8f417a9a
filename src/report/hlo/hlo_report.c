/* An HLO module for people: the summary, and all sections as text. */
#include "hlo_section.h"

static const char *format_text(ridge_hlo_format format)
{
    static const char *const texts[] = {[RIDGE_HLO_FORMAT_TEXT] = "HLO text",
                                        [RIDGE_HLO_FORMAT_PROTO] = "HLO proto",
                                        [RIDGE_HLO_FORMAT_MLIR] = "StableHLO"};
    return texts[format];
}

/* ---- summary ----------------------------------------------------------------------
 */

static void add_work_pairs(const ridge_hlo_study *s, ridge_table *t, ridge_arena *arena)
{
    const double flops = ridge_hlo_study_flops(s);
    ridge__table_pair(t, "FLOPs",
                      ridge_sprintf(arena,
                                    "%s  (matmul %s, vector %s, transcendental %s)",
                                    ridge_format_si(flops, "FLOP").s,
                                    ridge_format_si(s->matmul_flops, "").s,
                                    ridge_format_si(s->vector_flops, "").s,
                                    ridge_format_si(s->transcendentals, "").s));
    ridge__table_pair(t, "HBM traffic", ridge_format_bytes(s->bytes).s);
    if (s->bytes > 0)
        ridge__table_pair(t, "intensity",
                          ridge_sprintf(arena, "%s FLOPs/byte",
                                        ridge_format_double(flops / s->bytes).s));
    if (s->padded_bytes > s->bytes * 1.0005)
        ridge__table_pair(
            t, "padding",
            ridge_sprintf(arena, "%s more traffic (%s)",
                          ridge_format_bytes(s->padded_bytes - s->bytes).s,
                          ridge_format_percent(s->padded_bytes / s->bytes - 1).s));
}

static void add_time_pairs(const ridge_hlo_study *s, ridge_table *t, ridge_arena *arena)
{
    const ridge_chip *chip = s->slice->chip;
    const double peak = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL);
    ridge__table_pair(t, "expected time",
                      ridge_sprintf(arena, "%s  (%s to %s)",
                                    ridge_format_seconds(s->expected_s).s,
                                    ridge_format_seconds(s->low_s).s,
                                    ridge_format_seconds(s->high_s).s));
    ridge__table_pair(
        t, "bound",
        ridge_sprintf(arena,
                      "%s at full rates and perfect overlap; most of the time goes "
                      "to %s",
                      ridge_format_seconds(s->bound_s).s,
                      ridge_bound_text(s->bound_by)));
    if (s->network_s > 0)
        ridge__table_pair(t, "network",
                          ridge_sprintf(arena, "%s, of which %s exposed, %s hidden",
                                        ridge_format_seconds(s->network_s).s,
                                        ridge_format_seconds(s->exposed_s).s,
                                        ridge_format_seconds(s->hidden_s).s));
    if (s->expected_s > 0)
        ridge__table_pair(
            t, "share of bf16 peak",
            ridge_format_percent(s->matmul_flops / s->expected_s / peak).s);
}

static const char *kernels_text(ridge_arena *arena, const ridge_hlo_study *s)
{
    double runs = 0;
    for (int k = 0; k < s->n_ops; k++)
        runs += s->ops[k].times;
    return ridge_sprintf(arena, "%s, run %s times; %s", ridge_format_exact(s->n_ops).s,
                         ridge_format_count(runs).s,
                         s->is_compiled ? "fused as the module says"
                                        : "fusion estimated: the module is not "
                                          "optimised yet");
}

void ridge__hlo_add_summary(ridge_ctx *cx, const ridge_hlo_view *view,
                            ridge_sections *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_hlo_study *s = view->study;
    ridge_table *t = ridge__section_add(cx, out, "", "|");
    ridge__table_pair(t, "format",
                      ridge_sprintf(arena, "%s%s, %s instructions in %d computations",
                                    format_text(s->module->format),
                                    s->module->is_scheduled ? ", scheduled" : "",
                                    ridge_format_exact(s->module->n_instructions).s,
                                    s->module->n_computations));
    ridge__table_pair(t, "devices", ridge_format_exact(s->devices).s);
    ridge__table_pair(t, "kernels", kernels_text(arena, s));
    add_work_pairs(s, t, arena);
    if (s->slice)
        add_time_pairs(s, t, arena);
    if (s->memory.peak_bytes > 0)
        ridge__table_pair(t, "peak memory", ridge_format_bytes(s->memory.peak_bytes).s);
    ridge__section_note(
        out, s->is_whole ? "Of one run of the whole module, not yet cut over its "
                           "devices."
                         : "Of one run of the module on one device.");
}

/* ---- what is not known ------------------------------------------------------------
 */

static void add_notes(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    ridge_buf b;
    const ridge_hlo_study *s = view->study;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (s->module->cut)
        ridge_buf_printf(&b,
                         "The file is cut: %s. What it still calls is missing, so "
                         "these are sums over what is left, each once. ",
                         s->module->cut);
    if (view->file->fault)
        ridge_buf_printf(&b, "The file is damaged: %s. ", view->file->fault);
    if (s->module->n_missing)
        ridge_buf_printf(&b, "%d things are missing from the text, first %s. ",
                         s->module->n_missing, s->module->missing);
    if (s->n_unknown_loops)
        ridge_buf_printf(&b,
                         "%d loops do not tell how often they run: once is taken "
                         "(--rounds N). ",
                         s->n_unknown_loops);
    if (s->n_unknown)
        ridge_buf_printf(&b,
                         "%lld calls do what cannot be told: only their bytes are "
                         "counted. ",
                         (long long)s->n_unknown);
    if (s->is_whole)
        ridge_buf_printf(&b,
                         "The module is sharded over %lld devices but not "
                         "partitioned yet: these are sums of all of them, as one "
                         "device would run it. --partition cuts it. ",
                         (long long)s->devices);
    if (view->file->n_modules > 1)
        ridge_buf_printf(&b,
                         "The file has %d modules, this is number %d (--module N). ",
                         view->file->n_modules, view->module + 1);
    if (b.n > 0) {
        ridge__section_add(cx, out, "Not counted", "");
        ridge__section_note(out, ridge_buf_text(&b));
    }
}

static void add_advice(ridge_ctx *cx, const ridge_hlo_view *view, ridge_sections *out)
{
    const ridge_hlo_study *s = view->study;
    if (s->n_advice == 0)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Advice", "what|>worth|evidence");
    for (int k = 0; k < s->n_advice; k++) {
        ridge_table_cell(t, s->advice[k].what);
        ridge_table_cell(t, s->advice[k].worth_s > 0
                                ? ridge_format_seconds(s->advice[k].worth_s).s
                                : "");
        ridge_table_cell(t, s->advice[k].evidence);
    }
}

/* ---- the whole --------------------------------------------------------------------
 */

ridge_sections ridge__hlo_sections(ridge_ctx *cx, const ridge_hlo_view *view)
{
    ridge_sections all = {.subtitle = NULL};
    const ridge_hlo_study *s = view->study;
    all.title = ridge_sprintf(ridge_ctx_arena(cx), "%.*s%s%s", (int)s->module->name.n,
                              s->module->name.p ? s->module->name.p : "",
                              s->slice ? " on " : "", s->slice ? s->slice->text : "");
    ridge__hlo_add_summary(cx, view, &all);
    if (view->partition)
        ridge__hlo_add_partition(cx, view, &all);
    add_advice(cx, view, &all);
    ridge__hlo_add_work(cx, view, &all);
    ridge__hlo_add_memory(cx, view, &all);
    add_notes(cx, view, &all);
    return all;
}

void ridge_hlo_write_text(ridge_ctx *cx, const ridge_hlo_view *view, bool with_colour,
                          ridge_buf *out)
{
    const ridge_sections all = ridge__hlo_sections(cx, view);
    ridge__sections_write_text(&all, with_colour, out);
}
