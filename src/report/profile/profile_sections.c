/* What a profile says, in the order in which it is asked: where the time went, what is
 * to do, which operations, collectives and gaps, what was lost in reading. */
#include "profile_sections.h"

#include <string.h>

/* ---- the head -------------------------------------------------------------------- */

static const char *subtitle(ridge_ctx *cx, const ridge_profile *p)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b, "%s; %s events in %s", ridge_trace_format_what(p->format),
                     ridge_format_exact(p->events).s,
                     ridge_format_bytes((double)p->bytes).s);
    if (p->n_files > 1)
        ridge_buf_printf(&b, " and %d files", p->n_files);
    ridge_buf_printf(&b, "; %d device%s", p->n_devices, p->n_devices == 1 ? "" : "s");
    if (p->world > 0)
        ridge_buf_printf(&b, " of a run of %d rank%s", p->world,
                         p->world == 1 ? "" : "s");
    if (p->chip != NULL)
        ridge_buf_printf(&b, "; %s%s", p->chip->full_name,
                         p->is_chip_told ? "" : " (recognised)");
    if (p->chip_devices > 1)
        ridge_buf_printf(&b, ", of which a device is one of %s cores",
                         ridge_format_count(p->chip_devices).s);
    return ridge_buf_text(&b);
}

static const char *fraction_of(int64_t part, int64_t total, ridge_text *room)
{
    *room = ridge_format_percent(total > 0 ? (double)part / (double)total : 0);
    return room->s;
}

/* What a table of sums leaves open. */
static const char *table_note(ridge_ctx *cx, const ridge_profile *p)
{
    const bool may_be_cores = p->chip != NULL && p->chip->kind == RIDGE_CHIP_TPU &&
                              p->chip->cores > 1 && p->device_flops_per_s <= 0;
    const char *open =
        may_be_cores ? ridge_sprintf(
                           ridge_ctx_arena(cx),
                           " It does not tell whether a device is a chip or one of its "
                           "%d cores: of cores, shares of rooflines are %d times as "
                           "large (roofline_model tells).",
                           p->chip->cores, p->chip->cores)
                     : "";
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "XProf's table has sums over all devices and steps of a "
                         "profile: a step here is all of it. What was hidden behind "
                         "what only the profile itself tells.%s",
                         open == NULL ? "" : open);
}

static void breakdown_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s)
{
    const double steps = p->steps > 0 ? (double)p->steps : 1;
    ridge_text room;
    const bool is_table = p->format == RIDGE_TRACE_XPROF_TABLE;
    const char *title =
        is_table
            ? ridge_sprintf(ridge_ctx_arena(cx), "All devices and steps: %s",
                            ridge_format_seconds(p->step_s).s)
            : ridge_sprintf(ridge_ctx_arena(cx), "Step: %s on average of %lld",
                            ridge_format_seconds(p->step_s).s, (long long)p->steps);
    ridge_table *t = ridge__section_add(cx, s, title == NULL ? "" : title,
                                        "part|>time|>share|>hidden|what");
    for (int i = 0; i < RIDGE_PROFILE_PART_COUNT; i++) {
        const int64_t ns = p->times.part_ns[i];
        const int64_t hidden = p->times.hidden_ns[i];
        if (ns == 0 && hidden == 0)
            continue;
        ridge_table_cell(t, ridge_profile_part_text((ridge_profile_part)i));
        ridge_table_cell(t, ridge_format_seconds(profile_seconds(ns) / steps).s);
        ridge_table_cell(t, fraction_of(ns, p->times.total_ns, &room));
        ridge_table_cell(
            t,
            hidden > 0 ? ridge_format_seconds(profile_seconds(hidden) / steps).s : "");
        ridge_table_cell(t, ridge_profile_part_what((ridge_profile_part)i));
    }
    ridge_table_rule(t);
    ridge_table_cell(t, "step");
    ridge_table_cell(t, ridge_format_seconds(p->step_s).s);
    ridge_table_cell(t, fraction_of(p->times.total_ns, p->times.total_ns, &room));
    ridge_table_cell(t, ridge_format_seconds(
                            profile_seconds(ridge_profile_hidden_ns(&p->times)) / steps)
                            .s);
    ridge_table_cell(t, "parts sum to it; hidden: collectives behind compute");
    if (is_table) {
        ridge__section_note(s, table_note(cx, p));
    } else if (p->n_devices > 0) {
        ridge__section_note(
            s, ridge_sprintf(ridge_ctx_arena(cx), "Steps by %s.",
                             ridge_step_source_text(p->devices[0].steps_by)));
    }
}

static void advice_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s)
{
    if (p->n_advice == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "What would help most",
                                        ">#|>worth a step|what to do");
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < p->n_advice; i++) {
        const ridge_profile_advice *a = &p->advice[i];
        ridge_table_cellf(t, "%d", i + 1);
        ridge_table_cell(t, ridge_format_seconds(a->worth_s).s);
        ridge_table_cell(t, a->title);
        ridge_buf_printf(&b, "%s%d: %s", i > 0 ? " " : "", i + 1, a->evidence);
    }
    ridge__section_note(s, ridge_buf_text(&b));
}

static void losses_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s)
{
    if (p->n_losses == 0)
        return;
    ridge_table *t =
        ridge__section_add(cx, s, "Not read", "file|what|>times|>first at byte");
    for (int i = 0; i < p->n_losses; i++) {
        const ridge_profile_loss *l = &p->losses[i];
        const char *slash = strrchr(l->file, '/');
        ridge_table_cell(t, slash == NULL ? l->file : slash + 1);
        ridge_table_cell(t, l->what);
        ridge_table_cell(t, ridge_format_exact(l->count).s);
        ridge_table_cell(t, l->offset < 0 ? "" : ridge_format_exact(l->offset).s);
    }
}

static void nothing_add(ridge_ctx *cx, ridge_sections *s)
{
    ridge__section_add(cx, s, "No device at work", "");
    ridge__section_note(s,
                        "The trace has no operations of a device. It may have been "
                        "taken on a host alone: profile with the device's activities "
                        "(ProfilerActivity.CUDA; jax.profiler on the device's host).");
}

void profile_sections_build(ridge_ctx *cx, const ridge_profile_view *v,
                            ridge_sections *s)
{
    const ridge_profile *p = v->profile;
    s->title = p->path;
    s->subtitle = subtitle(cx, p);
    if (p->n_devices == 0 || p->times.total_ns == 0) {
        nothing_add(cx, s);
        losses_add(cx, p, s);
        return;
    }
    breakdown_add(cx, p, s);
    advice_add(cx, p, s);
    profile_steps_add(cx, p, s);
    profile_ranks_add(cx, p, s);
    profile_groups_add(cx, v, s);
    profile_winnable_add(cx, v, s);
    profile_collectives_add(cx, v, s);
    profile_gaps_add(cx, v, s);
    losses_add(cx, p, s);
}

void ridge_profile_write_text(ridge_ctx *cx, const ridge_profile_view *view,
                              bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    profile_sections_build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}
