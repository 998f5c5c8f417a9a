/* A host that launches too late, waits, loads data, compiles or copies. */
#include "advice_list.h"

#include <string.h>

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

/* Calls that wait for a value on the device. */
static bool reads_back(const char *cause)
{
    return strcmp(cause, "aten::item") == 0 || strcmp(cause, "aten::nonzero") == 0 ||
           strcmp(cause, "aten::_local_scalar_dense") == 0 ||
           strcmp(cause, "aten::is_nonzero") == 0;
}

/* Idle time that the host is to blame for, by what it did. */
typedef struct host_gaps {
    double input_s, sync_s, other_s;
    const ridge_profile_gap *longest_sync, *longest_other;
} host_gaps;

static host_gaps gaps_of(const ridge_profile *p)
{
    host_gaps g = {.input_s = seconds(p->times.part_ns[RIDGE_PROFILE_PART_INPUT])};
    for (int i = 0; i < p->n_gaps; i++) {
        const ridge_profile_gap *gap = &p->gaps[i];
        if (gap->is_input) {
            g.input_s += seconds(gap->time_ns);
        } else if (gap->is_sync || reads_back(gap->cause)) {
            g.sync_s += seconds(gap->time_ns);
            if (g.longest_sync == NULL)
                g.longest_sync = gap;
        } else {
            g.other_s += seconds(gap->time_ns);
            if (g.longest_other == NULL)
                g.longest_other = gap;
        }
    }
    return g;
}

static void launches_add(advice_list *list, const host_gaps *g)
{
    int64_t launched = 0;
    int64_t starved = 0;
    for (int i = 0; i < list->p->n_devices; i++) {
        launched += list->p->devices[i].launched;
        starved += list->p->devices[i].starved;
    }
    if (launched == 0 || g->longest_other == NULL)
        return;
    advice_add(
        list, "host_bound",
        "launch work earlier: CUDA graphs, torch.compile, fewer and larger kernels, "
        "less Python between launches",
        g->other_s,
        "%.0f %% of %lld launches found the device with nothing to do; it waited %s "
        "a step. Most of it in: %.120s.",
        100 * (double)starved / (double)launched, (long long)launched,
        advice_step_text(list, g->other_s).s, g->longest_other->cause);
}

void advice_host(advice_list *list)
{
    const ridge_profile *p = list->p;
    const host_gaps g = gaps_of(p);
    launches_add(list, &g);
    if (g.longest_sync != NULL)
        advice_add(list, "synchronisation",
                   "take synchronisation out of the step: values read back, blocking "
                   "copies, allocations",
                   g.sync_s,
                   "The device ran dry behind them for %s a step; most: %.120s.",
                   advice_step_text(list, g.sync_s).s, g.longest_sync->cause);
    advice_add(list, "input",
               "feed data sooner: more loader workers, prefetch, copies from pinned "
               "memory",
               g.input_s, "The device waited %s a step for input.",
               advice_step_text(list, g.input_s).s);
    advice_add(
        list, "copies",
        "hide copies: pinned memory and non_blocking, on a stream of their own",
        seconds(p->times.part_ns[RIDGE_PROFILE_PART_COPY]),
        "%s a step of copies with nothing beside them.",
        advice_step_text(list, seconds(p->times.part_ns[RIDGE_PROFILE_PART_COPY])).s);
    if (p->compilations > 0)
        advice_add(
            list, "recompilation",
            "avoid compiling within the run: pad shapes that vary, compile ahead",
            seconds(p->compilation_ns), "%lld compilations in the trace, %s.",
            (long long)p->compilations,
            ridge_format_seconds(seconds(p->compilation_ns)).s);
}
