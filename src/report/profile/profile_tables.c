/* Tables of a profile: steps, ranks, operations, collectives, gaps. */
#include "profile_sections.h"

#include <string.h>

static int rows_of(const ridge_profile_view *v)
{
    return v->rows > 0 ? v->rows : PROFILE_ROWS;
}

static void time_cell(ridge_table *t, double seconds)
{
    ridge_table_cell(t, ridge_format_seconds(seconds).s);
}

static void share_cell(ridge_table *t, double part, double whole)
{
    ridge_table_cell(t, ridge_format_percent(whole > 0 ? part / whole : 0).s);
}

/* ---- steps and devices -------------------------------------------------------------
 */

static void times_cells(ridge_table *t, const ridge_profile_times *times, double n)
{
    time_cell(t, profile_seconds(times->total_ns) / n);
    time_cell(t, profile_seconds(ridge_profile_compute_ns(times)) / n);
    time_cell(t, profile_seconds(ridge_profile_exposed_ns(times)) / n);
    time_cell(t, profile_seconds(ridge_profile_hidden_ns(times)) / n);
    time_cell(t, profile_seconds(times->part_ns[RIDGE_PROFILE_PART_COPY]) / n);
    time_cell(t, profile_seconds(times->part_ns[RIDGE_PROFILE_PART_HOST]) / n);
    time_cell(t, profile_seconds(times->part_ns[RIDGE_PROFILE_PART_IDLE] +
                                 times->part_ns[RIDGE_PROFILE_PART_INPUT]) /
                     n);
}

#define TIMES_COLUMNS "|>time|>compute|>exposed comm.|>hidden comm.|>copies|>host|>idle"

static void device_steps_add(ridge_ctx *cx, const ridge_profile_device *d,
                             ridge_sections *s)
{
    ridge_table *t = ridge__section_add(cx, s, "Steps", "step" TIMES_COLUMNS);
    for (int i = 0; i < d->n_steps && i < PROFILE_ROWS; i++) {
        ridge_table_cell(t, profile_name_text(cx, d->steps[i].name, 24));
        times_cells(t, &d->steps[i].times, 1);
    }
    if (d->n_steps > PROFILE_ROWS)
        ridge__section_note(s, ridge_sprintf(ridge_ctx_arena(cx), "The first %d of %d.",
                                             PROFILE_ROWS, d->n_steps));
}

void profile_steps_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s)
{
    if (p->n_devices == 1) {
        if (p->devices[0].n_steps > 1)
            device_steps_add(cx, &p->devices[0], s);
        return;
    }
    ridge_table *t = ridge__section_add(cx, s, "Devices, a step on average",
                                        "device|>rank|>steps" TIMES_COLUMNS);
    for (int i = 0; i < p->n_devices && i < 4 * PROFILE_ROWS; i++) {
        const ridge_profile_device *d = &p->devices[i];
        ridge_table_cell(t, profile_name_text(cx, d->name, 32));
        if (d->rank >= 0)
            ridge_table_cellf(t, "%d", d->rank);
        else
            ridge_table_cell(t, "");
        ridge_table_cellf(t, "%d", d->n_steps);
        times_cells(t, &d->times, d->n_steps > 0 ? d->n_steps : 1);
    }
}

void profile_ranks_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s)
{
    double waits = 0;
    for (int i = 0; i < p->n_ranks; i++)
        waits += p->ranks[i].wait_s;
    if (p->n_ranks < 2 || waits <= 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Ranks, a step on average",
                                        ">rank|>step|>compute|>waits for others|");
    int last = 0;
    for (int i = 1; i < p->n_ranks; i++)
        last = p->ranks[i].wait_s < p->ranks[last].wait_s ? i : last;
    for (int i = 0; i < p->n_ranks && i < 4 * PROFILE_ROWS; i++) {
        ridge_table_cellf(t, "%d", p->ranks[i].rank);
        time_cell(t, p->ranks[i].step_s);
        time_cell(t, p->ranks[i].compute_s);
        time_cell(t, p->ranks[i].wait_s);
        ridge_table_cell(t, i == last ? "the others wait for it" : "");
    }
}

/* ---- operations ------------------------------------------------------------------ */

static void rate_cells(ridge_table *t, const ridge_profile_group *g)
{
    ridge_table_cell(
        t, g->has_flops && g->flops_ns > 0
               ? ridge_format_si(g->flops / profile_seconds(g->flops_ns), "FLOP/s").s
               : "");
    ridge_table_cell(
        t, g->has_bytes && g->bytes_ns > 0
               ? ridge_format_si(g->bytes / profile_seconds(g->bytes_ns), "B/s").s
               : "");
    if (g->roofline_ns > 0)
        share_cell(t, g->roofline_s, profile_seconds(g->roofline_ns));
    else
        ridge_table_cell(t, "");
}

void profile_groups_add(ridge_ctx *cx, const ridge_profile_view *v, ridge_sections *s)
{
    ridge_profile_group *groups;
    int n;
    if (ridge_profile_group_by(cx, v->profile, v->key, &groups, &n) != RIDGE_OK)
        return;
    const double steps = v->profile->steps > 0 ? (double)v->profile->steps : 1;
    ridge_table *t = ridge__section_add(
        cx, s,
        ridge_sprintf(ridge_ctx_arena(cx), "Operations by %s, a step",
                      ridge_profile_key_text(v->key)),
        "|>count|>time|>share|>rate|>bytes|>of roofline");
    for (int i = 0; i < n && i < rows_of(v); i++) {
        const char *name = groups[i].name;
        ridge_table_cell(t, *name == 0
                                ? "(not told)"
                                : profile_name_text(cx, name, PROFILE_NAME_COLUMNS));
        ridge_table_cell(t, ridge_format_count((double)groups[i].count / steps).s);
        time_cell(t, profile_seconds(groups[i].time_ns) / steps);
        share_cell(t, profile_seconds(groups[i].time_ns), v->profile->work_s);
        rate_cells(t, &groups[i]);
    }
    if (n > rows_of(v))
        ridge__section_note(s, ridge_sprintf(ridge_ctx_arena(cx),
                                             "The longest %d of %d.", rows_of(v), n));
}

void profile_winnable_add(ridge_ctx *cx, const ridge_profile_view *v, ridge_sections *s)
{
    ridge_profile_op *best;
    int n;
    const double steps = v->profile->steps > 0 ? (double)v->profile->steps : 1;
    if (ridge_profile_winnable(cx, v->profile, &best, &n) != RIDGE_OK || n == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Time above the roofline, a step",
                                        "operation|call|>count|>time|>roofline|bound "
                                        "by|>could win");
    for (int i = 0; i < n && i < rows_of(v); i++) {
        ridge_table_cell(t, profile_name_text(cx, best[i].name, 40));
        ridge_table_cell(t, profile_name_text(cx, best[i].call, 32));
        ridge_table_cell(t, ridge_format_count((double)best[i].count / steps).s);
        time_cell(t, profile_seconds(best[i].time_ns) / steps);
        time_cell(t, best[i].roofline_s / steps);
        ridge_table_cell(t, best[i].is_memory_bound ? "memory" : "compute");
        time_cell(t, best[i].gap_s / steps);
    }
    ridge__section_note(s, "The roofline is the chip's peak or its memory's full "
                           "bandwidth: real kernels reach 60 to 90 % of it. Operations "
                           "whose FLOPs and bytes the trace does not tell have none, "
                           "nor those told to do more than the chip can.");
}

/* ---- collectives and gaps ----------------------------------------------------------
 */

static void bus_cells(ridge_table *t, const ridge_profile_collective *c)
{
    ridge_table_cell(
        t, c->bus_bytes_per_s > 0 ? ridge_format_si(c->bus_bytes_per_s, "B/s").s : "");
    ridge_table_cell(t, c->best_bus_bytes_per_s > 0
                            ? ridge_format_si(c->best_bus_bytes_per_s, "B/s").s
                            : "");
    ridge_table_cell(t, c->network_bytes_per_s > 0
                            ? ridge_format_si(c->network_bytes_per_s, "B/s").s
                            : "");
}

void profile_collectives_add(ridge_ctx *cx, const ridge_profile_view *v,
                             ridge_sections *s)
{
    const ridge_profile *p = v->profile;
    const double steps = p->steps > 0 ? (double)p->steps : 1;
    if (p->n_collectives == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, "Collectives, a step",
        "kind|>ranks|>bytes|>count|>time|>exposed|>waits|>bus|>best|>network");
    for (int i = 0; i < p->n_collectives && i < rows_of(v); i++) {
        const ridge_profile_collective *c = &p->collectives[i];
        ridge_table_cell(t, ridge_profile_class_text(c->kind));
        ridge_table_cell(t, c->ranks > 0 ? ridge_format_exact(c->ranks).s : "");
        ridge_table_cell(t, c->has_bytes ? ridge_format_bytes(c->bytes).s : "");
        ridge_table_cell(t, ridge_format_count((double)c->count / steps).s);
        time_cell(t, profile_seconds(c->time_ns) / steps);
        time_cell(t, profile_seconds(c->exposed_ns) / steps);
        if (p->n_ranks > 1)
            time_cell(t, profile_seconds(c->wait_ns) / steps);
        else
            ridge_table_cell(t, "");
        bus_cells(t, c);
    }
    ridge__section_note(
        s, p->n_ranks > 1
               ? "Waits: for ranks that came later. Bus: bytes on the wire over the "
                 "median time, as nccl-tests count them; best: over the shortest."
               : "Times hold the wait for other ranks, which one rank's trace cannot "
                 "tell: give a folder with a file a rank. Bus: bytes on the wire over "
                 "the median time, as nccl-tests count them; best: over the shortest.");
}

static void queue_note(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s)
{
    int64_t launched = 0;
    int64_t starved = 0;
    int64_t lead_ns = 0;
    for (int i = 0; i < p->n_devices; i++) {
        launched += p->devices[i].launched;
        starved += p->devices[i].starved;
        lead_ns += p->devices[i].lead_ns;
    }
    if (launched == 0)
        return;
    ridge__section_note(
        s, ridge_sprintf(
               ridge_ctx_arena(cx),
               "%s of %s operations found the device with nothing queued; from "
               "launch to start took %s on average.",
               ridge_format_percent((double)starved / (double)launched).s,
               ridge_format_exact(launched).s,
               ridge_format_seconds(profile_seconds(lead_ns) / (double)launched).s));
}

void profile_gaps_add(ridge_ctx *cx, const ridge_profile_view *v, ridge_sections *s)
{
    const ridge_profile *p = v->profile;
    const double steps = p->steps > 0 ? (double)p->steps : 1;
    if (p->n_gaps == 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Device waits for the host, a step",
                                        "the host was in|>gaps|>time|");
    for (int i = 0; i < p->n_gaps && i < rows_of(v); i++) {
        const ridge_profile_gap *g = &p->gaps[i];
        ridge_table_cell(t, profile_name_text(cx, g->cause, PROFILE_NAME_COLUMNS));
        ridge_table_cell(t, ridge_format_count((double)g->count / steps).s);
        time_cell(t, profile_seconds(g->time_ns) / steps);
        ridge_table_cell(t, g->is_input  ? "input"
                            : g->is_sync ? "synchronisation"
                                         : "");
    }
    queue_note(cx, p, s);
}
