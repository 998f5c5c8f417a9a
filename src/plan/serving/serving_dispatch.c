/*
 * Rows on their way to experts and back, where attention ranks have rows of their own:
 * all of them gathered and the results reduced; each sent to the chips of its experts;
 * or sent once to each node of them, and passed on inside it while more arrive. The
 * cheapest is taken, as engines let their users choose; chips start their messages
 * themselves, as DeepEP's do.
 * @source deepseek-v3-2024, section 3.2.2; deepep-2025
 */
#include "serving_bench.h"

#include <math.h>

/* Bytes of all rows, in the format of the arithmetic there, in 16 bits back. */
typedef struct freight {
    double there, back;
} freight;

static freight freight_of(const serving_bench *b, const ridge_ffn *ffn, double rows)
{
    const serving_format *f = &b->formats.of[RIDGE_QUANT_EXPERTS];
    const double wide = ridge_dtype_bytes(b->layout->formats.activation);
    const double elements = rows * serving_expert_input(b, ffn);
    return (freight){elements * fmin(wide, ridge_dtype_bytes(f->compute)),
                     elements * wide};
}

/* Of n parts that are drawn k times, how likely one is. */
static double chance_of(double n, double k)
{
    return 1 - pow(1 - 1 / n, k);
}

/* Of ways to choose `taken` of `all`, those that take `j` of `some` of them. */
static double chance_of_groups(double all, double some, double taken, double j)
{
    double chance = 1;
    for (double i = 0; i < j; i++)
        chance *= (some - i) * (taken - i) / ((all - i) * (j - i));
    for (double i = 0; i < taken - j; i++)
        chance *= (all - some - i) / (all - j - i);
    return chance;
}

/* A part holds several groups of experts, of which a token chooses some first. */
static double chance_in_groups(double held, double groups, double chosen, double k)
{
    double chance = 0;
    for (double j = 1; j <= fmin(held, chosen); j++)
        chance += chance_of_groups(groups, held, chosen, j) *
                  (j < chosen ? chance_of(chosen / j, k) : 1);
    return chance;
}

/* Of n equal parts, those that hold one of a token's k experts, in the mean. Tokens
 * that choose groups of experts first reach fewer.
 * @source deepseek-v3-2024, section 2.1.2 */
static double parts_hit(double n, const ridge_ffn *ffn)
{
    const double k = (double)ffn->experts_per_token;
    const double groups = (double)ffn->expert_groups;
    const double chosen = (double)ffn->groups_per_token;
    if (groups <= 1 || chosen <= 0 || chosen >= groups)
        return n * chance_of(n, k);
    if (n >= groups)
        return n * chosen / groups * chance_of(n * chosen / groups, k);
    return fmod(groups, n) == 0 ? n * chance_in_groups(groups / n, groups, chosen, k)
                                : n * chance_of(n, k);
}

static ridge_time exchange(const serving_bench *b, ridge_collective kind, double bytes,
                           const ridge_group *group)
{
    if (group->ranks <= 1)
        return (ridge_time){0, 0};
    const ridge_collective_cost c = ridge_collective_price_by(
        b->desk->about.slice, kind, bytes, group, RIDGE_COMM_DEVICE);
    return (ridge_time){.bound_s = c.bound_s, .expected_s = c.expected_s};
}

static ridge_time after(ridge_time x, ridge_time y)
{
    return (ridge_time){.bound_s = x.bound_s + y.bound_s,
                        .expected_s = x.expected_s + y.expected_s};
}

static ridge_time beside(ridge_time x, ridge_time y)
{
    return (ridge_time){.bound_s = fmax(x.bound_s, y.bound_s),
                        .expected_s = fmax(x.expected_s, y.expected_s)};
}

static ridge_time least(ridge_time x, ridge_time y)
{
    return (ridge_time){.bound_s = fmin(x.bound_s, y.bound_s),
                        .expected_s = fmin(x.expected_s, y.expected_s)};
}

/* ---- three ways ------------------------------------------------------------------ */

static ridge_time gathered(const serving_bench *b, const freight *f)
{
    const ridge_group *ranks = &b->groups.attention_dp;
    return after(exchange(b, RIDGE_COLLECTIVE_ALL_GATHER, f->there, ranks),
                 exchange(b, RIDGE_COLLECTIVE_REDUCE_SCATTER, f->back, ranks));
}

static ridge_time both_ways(const serving_bench *b, const freight *f, double copies,
                            const ridge_group *group)
{
    return after(exchange(b, RIDGE_COLLECTIVE_ALL_TO_ALL, copies * f->there, group),
                 exchange(b, RIDGE_COLLECTIVE_ALL_TO_ALL, copies * f->back, group));
}

static double chips_hit(const serving_bench *b, const ridge_ffn *ffn)
{
    return parts_hit((double)b->layout->ep, ffn) * b->expert_width;
}

/* Between nodes each chip of one has its own part of the rows; inside a node lie the
 * rows that came for it. */
static ridge_time once_a_node(const serving_bench *b, const ridge_ffn *ffn,
                              const freight *f)
{
    ridge_group inner = b->groups.all, outer = b->groups.all;
    inner.n_spans = 1;
    inner.ranks = inner.spans[0].size;
    outer.n_spans = b->groups.all.n_spans - 1;
    outer.ranks = b->groups.all.ranks / inner.ranks;
    for (int i = 0; i < outer.n_spans; i++)
        outer.spans[i] = b->groups.all.spans[i + 1];
    const double nodes = (double)outer.ranks;
    return beside(both_ways(b, f, parts_hit(nodes, ffn) / (double)inner.ranks, &outer),
                  both_ways(b, f, chips_hit(b, ffn) / nodes, &inner));
}

ridge_time serving_dispatch_time(const serving_bench *b, const ridge_ffn *ffn,
                                 double rows)
{
    if (b->ranks <= 1)
        return (ridge_time){0, 0}; /* all ranks have the same rows */
    const freight f = freight_of(b, ffn, rows);
    ridge_time best =
        least(gathered(b, &f), both_ways(b, &f, chips_hit(b, ffn), &b->groups.all));
    if (b->groups.all.n_spans > 1)
        best = least(best, once_a_node(b, ffn, &f));
    return best;
}

double serving_expert_input(const serving_bench *b, const ridge_ffn *ffn)
{
    return (double)(ffn->latent_width > 0 ? ffn->latent_width
                                          : b->desk->model->d_model);
}
