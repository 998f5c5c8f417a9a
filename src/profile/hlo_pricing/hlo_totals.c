/* Sums over the kernels of a module. */
#include "hlo_pricing.h"

#include "ridge/cost_range.h"
#include "ridge/profile_hlo_partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eight modules that were timed after a compiler had fused them took from the one to
 * the other of what was expected before: docs/accuracy.md. */
#define ESTIMATED_LOW  0.63
#define ESTIMATED_HIGH 1.6

/** What a category's kernels were measured as, for its range. */
static ridge_measured measured_as(const ridge_hlo_op *op)
{
    if (op->collective)
        return ridge_measured_of_collective(op->collective->kind);
    if (op->category == RIDGE_HLO_CATEGORY_MATMUL)
        return RIDGE_MEASURED_MATMUL;
    if (op->category == RIDGE_HLO_CATEGORY_ATTENTION && op->matmul_flops > 0)
        return RIDGE_MEASURED_ATTENTION_PREFILL;
    return RIDGE_MEASURED_STREAM;
}

/** Sums that the result does not keep. */
typedef struct sums {
    double chip_bound_s, network_bound_s;
    double by_bound[RIDGE_BOUND_NETWORK + 1];
    double low_s, high_s;
} sums;

static void add(ridge_hlo_study *out, const ridge_hlo_op *op, sums *s)
{
    ridge_hlo_share *share = &out->shares[op->category];
    const double times = op->times;
    share->n += (int64_t)times;
    share->flops += times * (op->matmul_flops + op->vector_flops);
    share->bytes += times * op->bytes;
    share->bound_s += times * op->bound_s;
    share->expected_s += times * op->expected_s;
    out->matmul_flops += times * op->matmul_flops;
    out->vector_flops += times * op->vector_flops;
    out->transcendentals += times * op->transcendentals;
    out->bytes += times * op->bytes;
    out->padded_bytes += times * op->padded_bytes;
    out->n_unknown += op->is_unknown ? (int64_t)times : 0;
    const bool is_beside = op->exposed_s > 0 || op->hidden_s > 0;
    const double waited = is_beside ? op->exposed_s : op->expected_s;
    share->exposed_s += times * waited;
    s->by_bound[op->expected_bound_by] += times * waited;
    const ridge_range range =
        ridge_range_of(measured_as(op), (ridge_time){op->bound_s, op->expected_s});
    const double scale = op->expected_s > 0 ? times * waited / op->expected_s : 0;
    s->low_s += scale * range.low_s;
    s->high_s += scale * range.high_s;
    if (op->collective) {
        out->network_s += times * op->expected_s;
        out->exposed_s += times * op->exposed_s;
        out->hidden_s += times * op->hidden_s;
        s->network_bound_s += times * op->bound_s;
    } else {
        out->compute_s += times * op->expected_s;
        s->chip_bound_s += is_beside ? 0 : times * op->bound_s;
    }
}

/* Kernels in the order in which they run; what a loop runs stands behind it. */
static int list_graph(const hlo_pricing *p, int graph, ridge_hlo_op *ops, int n,
                      int depth)
{
    enum { DEPTH_MOST = 512 };
    const hlo_kernels *k = &p->kernels[graph];
    if (depth > DEPTH_MOST)
        return n;
    for (int kernel = 0; kernel < k->n; kernel++) {
        const hlo_priced *priced = &p->priced[graph][kernel];
        const hlo_node *node = &k->graph->nodes[k->kernels[kernel].node];
        if (priced->is_priced && !priced->is_dropped && priced->op.times > 0)
            ops[n++] = priced->op;
        for (int g = 0; g < node->n_graphs; g++)
            n = list_graph(p, node->first_graph + g, ops, n, depth + 1);
    }
    return n;
}

static int most_ops(const hlo_pricing *p)
{
    int n = 0;
    for (int g = 0; g < p->graphs.n; g++)
        n += p->kernels[g].n;
    return n;
}

ridge_status hlo_totals_fill(hlo_pricing *p, ridge_hlo_study *out)
{
    sums s = {.low_s = 0};
    ridge_hlo_op *ops =
        ridge_new(ridge_ctx_arena(p->cx), ridge_hlo_op, (size_t)most_ops(p));
    if (ops == NULL)
        return ridge_fail_nomem(p->cx);
    for (int g = 0; g < p->graphs.n; g++) {
        if (p->graphs.graphs[g].parent < 0)
            out->n_ops = list_graph(p, g, ops, out->n_ops, 0);
    }
    out->ops = ops;
    for (int k = 0; k < out->n_ops; k++)
        add(out, &ops[k], &s);
    out->n_unknown_loops = p->graphs.n_unknown_loops;
    out->is_whole = p->devices > 1 && !p->is_compiled &&
                    out->shares[RIDGE_HLO_CATEGORY_COLLECTIVE].n == 0 &&
                    ridge_hlo_is_sharded(p->module);
    if (p->slice == NULL)
        return RIDGE_OK;
    out->bound_s = fmax(s.chip_bound_s, s.network_bound_s);
    for (int g = 0; g < p->graphs.n; g++)
        out->expected_s += p->graphs.graphs[g].parent < 0 ? p->graph_s[g] : 0;
    /* what is neither a kernel nor a wait: compute slowed beside collectives */
    const double rest = fmax(0, out->expected_s - out->compute_s - out->exposed_s);
    out->low_s = fmin(out->expected_s, s.low_s + rest);
    out->high_s = fmax(out->expected_s, s.high_s + rest);
    if (!out->is_compiled) {
        out->low_s = fmin(out->low_s, ESTIMATED_LOW * out->expected_s);
        out->high_s = fmax(out->high_s, ESTIMATED_HIGH * out->expected_s);
    }
    for (int b = 0; b <= RIDGE_BOUND_NETWORK; b++)
        out->bound_by =
            s.by_bound[b] > s.by_bound[out->bound_by] ? (ridge_bound)b : out->bound_by;
    return RIDGE_OK;
}

double ridge_hlo_study_flops(const ridge_hlo_study *study)
{
    return study->matmul_flops + study->vector_flops + study->transcendentals;
}

const char *ridge_hlo_category_text(ridge_hlo_category category)
{
    static const char *const texts[] = {
#define ROW(name, text) [RIDGE_HLO_CATEGORY_##name] = text,
        RIDGE_HLO_CATEGORY_LIST(ROW)
#undef ROW
    };
    return texts[category];
}

/* ---- ways in which the module is cut ----------------------------------------------
 */

static int by_stride(const void *a, const void *b)
{
    const ridge_hlo_degree *x = a, *y = b;
    if (x->stride != y->stride)
        return x->stride < y->stride ? -1 : 1;
    return (x->ways > y->ways) - (x->ways < y->ways);
}

void hlo_degrees_find(ridge_hlo_study *out)
{
    for (int k = 0; k < out->n_ops; k++) {
        const ridge_hlo_collective *c = out->ops[k].collective;
        if (c == NULL || c->ranks < 2 || c->kind == RIDGE_COLLECTIVE_SEND_RECV)
            continue;
        int d = 0;
        while (d < out->n_degrees && (out->degrees[d].ways != c->ranks ||
                                      out->degrees[d].stride != c->stride))
            d++;
        if (d == RIDGE_HLO_DEGREE_MAX)
            continue;
        if (d == out->n_degrees)
            out->degrees[out->n_degrees++] =
                (ridge_hlo_degree){.ways = c->ranks, .stride = c->stride};
        out->degrees[d].n_collectives += (int64_t)out->ops[k].times;
        out->degrees[d].bytes += out->ops[k].times * c->bytes;
    }
    qsort(out->degrees, (size_t)out->n_degrees, sizeof *out->degrees, by_stride);
    for (int d = 0; d < out->n_degrees; d++)
        out->degrees[d].letter = (char)('x' + d < '{' ? 'x' + d : 'a' + d - 3);
}
