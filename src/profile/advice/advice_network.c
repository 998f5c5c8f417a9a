/* Exposed, small and slow collectives, and ranks that others wait for. */
#include "advice_list.h"

#include <math.h>

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

typedef struct exposed_row {
    ridge_profile_part part;
    const char *key, *title;
} exposed_row;

static const exposed_row exposed_rows[] = {
    {RIDGE_PROFILE_PART_ALL_GATHER, "exposed_all_gather",
     "hide all-gathers: prefetch weights a layer ahead (FSDP prefetch), or run gathers "
     "of "
     "activations as collective matmuls"},
    {RIDGE_PROFILE_PART_REDUCE_SCATTER, "exposed_reduce_scatter",
     "hide reduce-scatters: let gradients trail the backward pass by a layer"},
    {RIDGE_PROFILE_PART_ALL_REDUCE, "exposed_all_reduce",
     "hide all-reduces: gradients in buckets behind the backward pass; those of tensor "
     "parallelism as reduce-scatter and all-gather within matmuls, or fewer ways"},
    {RIDGE_PROFILE_PART_ALL_TO_ALL, "exposed_all_to_all",
     "hide all-to-alls of experts behind the shared expert or another microbatch"},
    {RIDGE_PROFILE_PART_SEND_RECV, "exposed_send_recv",
     "hide sends between stages: send while the next microbatch computes"},
    {RIDGE_PROFILE_PART_BROADCAST, "exposed_broadcast",
     "take broadcasts out of the step"},
    {RIDGE_PROFILE_PART_COLLECTIVE, "exposed_collective", "hide collectives"},
};

/* Of one part: how much of the exposed time is waiting for others, at most. */
static double waits_of(const ridge_profile *p, ridge_profile_part part)
{
    double waits = 0;
    for (int i = 0; p->n_ranks > 1 && i < p->n_collectives; i++) {
        const ridge_profile_collective *c = &p->collectives[i];
        if (ridge_profile_class_part(c->kind) == part)
            waits += fmin(seconds(c->wait_ns), seconds(c->exposed_ns));
    }
    return waits;
}

static void exposed_add(advice_list *list)
{
    const ridge_profile_times *t = &list->p->times;
    for (size_t i = 0; i < RIDGE_COUNT_OF(exposed_rows); i++) {
        const exposed_row *row = &exposed_rows[i];
        const double exposed_s = seconds(t->part_ns[row->part]);
        const double waits_s = waits_of(list->p, row->part);
        advice_add(list, row->key, row->title, exposed_s - waits_s,
                   "%s a step exposed, %s hidden; %s of it waits for other ranks.",
                   advice_step_text(list, exposed_s).s,
                   advice_step_text(list, seconds(t->hidden_ns[row->part])).s,
                   list->p->n_ranks > 1 ? advice_step_text(list, waits_s).s
                                        : "an unknown part");
    }
}

/* Many small ones: what they would take as one, at the best rate that was seen. */
static void small_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double best = 0;
    for (int i = 0; i < p->n_collectives; i++)
        best = fmax(best, p->collectives[i].best_bus_bytes_per_s);
    double count = 0;
    double time_s = 0;
    double joined_s = 0;
    for (int i = 0; i < p->n_collectives && best > 0; i++) {
        const ridge_profile_collective *c = &p->collectives[i];
        const double per_step = (double)c->count / list->steps;
        if (!c->has_bytes || c->bus_bytes_per_s <= 0 || per_step < 2 ||
            c->bus_bytes_per_s > 0.3 * best)
            continue;
        count += per_step;
        time_s += seconds(c->exposed_ns);
        joined_s += seconds(c->exposed_ns) * c->bus_bytes_per_s / best;
    }
    if (count >= 4)
        advice_add(
            list, "small_collectives",
            "combine small collectives: larger buckets, or one of several tensors",
            time_s - joined_s,
            "%.0f a step run below 30 %% of the best bus bandwidth seen, %s; "
            "exposed %s a step.",
            count, ridge_format_si(best, "B/s").s, advice_step_text(list, time_s).s);
}

static void slow_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    for (int i = 0; i < p->n_collectives; i++) {
        const ridge_profile_collective *c = &p->collectives[i];
        const double exposed_s = seconds(c->exposed_ns);
        if (c->expected_s <= 0 || c->bytes < 16e6 ||
            seconds(c->least_ns) < 2 * c->expected_s)
            continue;
        const double one_s = seconds(c->time_ns) / (double)c->count;
        advice_add(
            list, "slow_network",
            "look at the network: large collectives are slower than it allows",
            exposed_s * (1 - c->expected_s / one_s),
            "%s of %s over %lld ranks: the quickest took %s, %s are expected on "
            "this network. Its topology, NICs and NCCL's settings are suspects; so "
            "is another network than the one assumed (--on).",
            ridge_profile_class_text(c->kind), ridge_format_bytes(c->bytes).s,
            (long long)c->ranks, ridge_format_seconds(seconds(c->least_ns)).s,
            ridge_format_seconds(c->expected_s).s);
        return;
    }
}

static void imbalance_add(advice_list *list)
{
    const ridge_profile *p = list->p;
    double waits = 0;
    double compute = 0;
    int last = 0;
    if (p->n_ranks < 2)
        return;
    for (int i = 0; i < p->n_ranks; i++) {
        waits += p->ranks[i].wait_s;
        compute += p->ranks[i].compute_s;
        last = p->ranks[i].wait_s < p->ranks[last].wait_s ? i : last;
    }
    const double n = p->n_ranks;
    advice_add(
        list, "imbalance",
        "even out the ranks: one is later than the others, who wait in collectives",
        waits / n * list->steps,
        "Ranks wait %s a step on average; rank %d waits least, %s, and computes %s "
        "against a mean of %s.",
        ridge_format_seconds(waits / n).s, p->ranks[last].rank,
        ridge_format_seconds(p->ranks[last].wait_s).s,
        ridge_format_seconds(p->ranks[last].compute_s).s,
        ridge_format_seconds(compute / n).s);
}

void advice_network(advice_list *list)
{
    exposed_add(list);
    small_add(list);
    slow_add(list);
    imbalance_add(list);
}
