/*
 * Tokens on their way to experts. By an all-to-all each of a token's k copies travels.
 * Libraries that know what a node is send one copy to each node that has any of its
 * experts, to the chip there that stands where the sender stands in its own, and from
 * there one to each rank with any of them; what comes back is added up on the same way.
 */
#include "expert_dispatch.h"

#include <math.h>

/* A copy in fp8 has a scale in fp32 for each 128 elements. @source deepep-2025 */
static const double FP8_COPY_BYTES = 1 + 4.0 / 128;
static const double COPY_BYTES = 2;

static const ridge_ffn *mixture_of(const train_case *tc)
{
    const ridge_ffn *most = NULL;
    for (int k = 0; k < tc->n_kinds; k++) {
        const ridge_ffn *f = &tc->kinds[k].ffn;
        if (f->kind == RIDGE_FFN_MOE &&
            (most == NULL || f->experts_per_token > most->experts_per_token))
            most = f;
    }
    return most;
}

/* Of n equal parts those that k even choices touch. */
static double touched(double n, double k)
{
    return n * (1 - pow(1 - 1 / n, k));
}

/* Ways to choose c of n, n small. */
static double ways(double n, double c)
{
    double w = 1;
    if (c < 0 || c > n)
        return 0;
    for (double i = 1; i <= c; i++)
        w *= (n - c + i) / i;
    return w;
}

/* Parts that hold several groups of experts each: a part has j of a token's groups with
 * the chance of drawing them, and is touched unless all k experts lie in the others. */
static double touched_of_groups(double parts, const ridge_ffn *f)
{
    const double groups = (double)f->expert_groups;
    const double chosen = (double)f->groups_per_token;
    const double k = (double)f->experts_per_token;
    const double each = groups / parts;
    double share = 0;
    for (double j = 1; j <= fmin(each, chosen); j++)
        share += ways(each, j) * ways(groups - each, chosen - j) /
                 ways(groups, chosen) * (1 - pow(1 - j / chosen, k));
    return parts * share;
}

static double reached(double parts, const ridge_ffn *f)
{
    const double k = (double)f->experts_per_token;
    const double groups = (double)f->expert_groups;
    if (groups <= 0)
        return touched(parts, k);
    if (parts >= groups)
        return touched(parts * (double)f->groups_per_token / groups, k);
    if (floor(groups / parts) < groups / parts) /* groups that nodes share */
        return fmin(touched(parts, k), touched(fmin(parts, k), k));
    return touched_of_groups(parts, f);
}

/* The ranks of ep within a node, or between nodes. */
static ridge_group part_of(const train_case *tc, const ridge_group *ep, bool is_between)
{
    ridge_group part = {.ranks = 1};
    for (int i = 0; i < ep->n_spans; i++) {
        const ridge_span *span = &ep->spans[i];
        const ridge_axis_kind kind = tc->slice->axes[span->axis].kind;
        const bool is_out = kind == RIDGE_AXIS_FABRIC || kind == RIDGE_AXIS_DCN;
        if (is_out != is_between)
            continue;
        part.spans[part.n_spans++] = *span;
        part.ranks *= span->size;
    }
    return part;
}

dispatch_copies train_dispatch_copies(const train_case *tc, const train_groups *g)
{
    const ridge_ffn *f = mixture_of(tc);
    const ridge_group between = part_of(tc, &g->ep, true);
    if (f == NULL)
        return (dispatch_copies){0, 0};
    if (g->dispatch == RIDGE_DISPATCH_COPIES) {
        const double k = (double)f->experts_per_token;
        return (dispatch_copies){k, k};
    }
    return (dispatch_copies){reached((double)between.ranks, f),
                             reached((double)g->ep.ranks, f)};
}

static ridge_time all_to_all(const train_case *tc, double sent_bytes,
                             const ridge_group *group)
{
    if (group->ranks <= 1)
        return (ridge_time){0, 0};
    return ridge_collective_time(tc->slice, RIDGE_COLLECTIVE_ALL_TO_ALL,
                                 sent_bytes * (double)group->ranks, group);
}

/* Both ways at once: what arrives on one is passed on over the other in pieces. */
static ridge_time once(const train_case *tc, const train_groups *g, double copy_bytes,
                       const dispatch_copies *copies)
{
    const ridge_group within = part_of(tc, &g->ep, false);
    const ridge_group between = part_of(tc, &g->ep, true);
    const ridge_time in = all_to_all(tc, copy_bytes * copies->ranks, &within);
    const ridge_time out = all_to_all(tc, copy_bytes * copies->nodes, &between);
    return (ridge_time){fmax(in.bound_s, out.bound_s),
                        fmax(in.expected_s, out.expected_s)};
}

ridge_time train_dispatch_time(const train_case *tc, const train_groups *g,
                               ridge_collective kind, double bytes)
{
    const ridge_ffn *f = mixture_of(tc);
    if (g->ep.ranks <= 1)
        return (ridge_time){0, 0};
    if (g->dispatch == RIDGE_DISPATCH_COPIES || f == NULL ||
        kind != RIDGE_COLLECTIVE_ALL_TO_ALL)
        return ridge_collective_time(tc->slice, kind, bytes, &g->ep);
    const dispatch_copies copies = train_dispatch_copies(tc, g);
    const double copy_bytes =
        bytes / (double)g->ep.ranks / (double)f->experts_per_token;
    const ridge_time back = once(tc, g, copy_bytes, &copies);
    if (g->dispatch == RIDGE_DISPATCH_ONCE)
        return back;
    const double narrow = FP8_COPY_BYTES / COPY_BYTES;
    const ridge_time out = once(tc, g, narrow * copy_bytes, &copies);
    return (ridge_time){0.5 * (back.bound_s + out.bound_s),
                        0.5 * (back.expected_s + out.expected_s)};
}
