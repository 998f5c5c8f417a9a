/*
 * What is small beside the weights is not small in time: products of rank 16 are bound
 * by the activations that they stream, and each adapter reads its input and writes its
 * output once more. Routed experts have none. Left out: the exchange of the adapters'
 * gradients, a hundredth of the weights' or less, and dropout of their input.
 */
#include "adapter.h"

#include "ridge/cost.h"

#include <string.h>

/* By the names that ridge_layer_weights gives; cross attention has adapters as
 * attention has. */
static const struct {
    const char *weight;
    ridge_lora_targets products;
} known[] = {
    {"wq", RIDGE_LORA_Q},
    {"q_a", RIDGE_LORA_Q},
    {"q_b", RIDGE_LORA_Q},
    {"cross_q", RIDGE_LORA_Q},
    {"wk", RIDGE_LORA_K},
    {"cross_k", RIDGE_LORA_K},
    {"wv", RIDGE_LORA_V},
    {"cross_v", RIDGE_LORA_V},
    {"kv_a", RIDGE_LORA_K | RIDGE_LORA_V},
    {"kv_b", RIDGE_LORA_K | RIDGE_LORA_V},
    {"wkv", RIDGE_LORA_K | RIDGE_LORA_V},
    {"w_gate", RIDGE_LORA_GATE},
    {"shared_gate", RIDGE_LORA_GATE},
    {"w_up", RIDGE_LORA_UP},
    {"shared_up", RIDGE_LORA_UP},
    {"w_down", RIDGE_LORA_DOWN},
    {"shared_down", RIDGE_LORA_DOWN},
};

/* What a weight counts as: of other mixers what leads into them as queries, keys and
 * values, and of feed-forwards any product. 0: it has no adapter. */
static ridge_lora_targets products_of(const ridge_weight *w)
{
    if (w->in < 2 || w->out < 2)
        return 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(known); i++) {
        if (strcmp(w->name, known[i].weight) == 0)
            return known[i].products;
    }
    if (w->part == RIDGE_PART_MLP)
        return RIDGE_LORA_MLP;
    if (w->part != RIDGE_PART_ATTENTION)
        return 0;
    return w->split == RIDGE_SPLIT_IN ? RIDGE_LORA_O
                                      : RIDGE_LORA_ATTENTION & ~RIDGE_LORA_O;
}

/* What stands beside one product, or beside several that are run as one. */
typedef struct adapter {
    double in, out, copies;
    bool is_mlp;
} adapter;

/* Queries, keys and values of one input are a joint product where `qkv` is said, and
 * have a joint adapter. @param out  room for RIDGE_WEIGHT_MAX @return how many */
static int list_adapters(const train_case *tc, int kind, adapter *out)
{
    const ridge_lora_targets chosen = ridge_lora_products(tc->lora.targets);
    const bool is_joint = (chosen & RIDGE_LORA_JOINT) != 0;
    bool is_last_joint = false;
    int n = 0;
    if (!tc->policy->is_frozen)
        return 0;
    for (int i = 0; kind < tc->n_kinds && i < tc->n_weights[kind]; i++) {
        const ridge_weight *w = &tc->weights[kind][i];
        const ridge_lora_targets products = products_of(w);
        const double in = (double)w->in;
        if ((chosen & products) == 0)
            continue;
        const bool is_part = is_joint && (products & RIDGE_LORA_QKV) != 0;
        if (is_part && is_last_joint && out[n - 1].in == in) {
            out[n - 1].out += (double)w->out;
            continue;
        }
        is_last_joint = is_part;
        out[n++] =
            (adapter){in, (double)w->out, (double)w->copies, w->part == RIDGE_PART_MLP};
    }
    return n;
}

/* The format that activations have between products. */
static ridge_dtype format_of(const train_case *tc)
{
    const ridge_dtype compute = tc->policy->compute;
    return ridge_dtype_bytes(compute) >= 2 ? compute : RIDGE_DTYPE_BF16;
}

static ridge_op_cost product(const train_case *tc, double m, double k, double n)
{
    const ridge_dtype format = format_of(tc);
    const ridge_matmul op = {.batch = 1,
                             .m = m < 1 ? 1 : m,
                             .k = k,
                             .n = n,
                             .activation = format,
                             .weight = format,
                             .output = format,
                             .compute = format};
    return ridge_matmul_cost(tc->chip, &op, RIDGE_MEMORY_HBM);
}

static void add_cost(ridge_op_cost cost, double *expected_s, double *bound_s)
{
    *expected_s += cost.expected_s;
    *bound_s += cost.bound_s;
}

/* Read twice, written once. */
static ridge_op_cost sum_cost(const train_case *tc, double elements)
{
    return ridge_stream_cost(tc->chip, 0,
                             3 * elements * ridge_dtype_bytes(format_of(tc)));
}

/* @param rows  tokens on this rank, after a cut over tp */
static void add_one(const train_case *tc, const adapter *a, double rows, layer_time *t)
{
    const double rank = (double)ridge_lora_rank(&tc->lora);
    const double in = a->in;
    const double out = a->out;
    const double n = a->copies;
    layer_time one = {0};
    add_cost(product(tc, rows, in, rank), &one.matmul_fwd_s, &one.bound_fwd_s);
    add_cost(product(tc, rows, rank, out), &one.matmul_fwd_s, &one.bound_fwd_s);
    add_cost(sum_cost(tc, rows * out), &one.vector_fwd_s, &one.bound_fwd_s);
    add_cost(product(tc, rows, out, rank), &one.matmul_bwd_s, &one.bound_bwd_s);
    add_cost(product(tc, rank, rows, out), &one.matmul_bwd_s, &one.bound_bwd_s);
    add_cost(product(tc, in, rows, rank), &one.matmul_bwd_s, &one.bound_bwd_s);
    add_cost(product(tc, rows, rank, in), &one.matmul_bwd_s, &one.bound_bwd_s);
    add_cost(sum_cost(tc, rows * in), &one.vector_bwd_s, &one.bound_bwd_s);
    t->matmul_fwd_s += n * one.matmul_fwd_s;
    t->matmul_bwd_s += n * one.matmul_bwd_s;
    t->vector_fwd_s += n * one.vector_fwd_s;
    t->vector_bwd_s += n * one.vector_bwd_s;
    t->bound_fwd_s += n * one.bound_fwd_s;
    t->bound_bwd_s += n * one.bound_bwd_s;
    t->elementwise_s += n * one.vector_fwd_s;
    if (a->is_mlp)
        t->ffn_s += n * (one.matmul_fwd_s + one.vector_fwd_s);
}

void adapter_add_time(const train_case *tc, int kind, const layer_shape *s,
                      layer_time *t)
{
    adapter beside[RIDGE_WEIGHT_MAX];
    const double rows =
        (double)s->microbatch_seqs * tc->seq_tokens / (double)(s->cp * s->tp);
    const int n = list_adapters(tc, kind, beside);
    for (int i = 0; i < n; i++)
        add_one(tc, &beside[i], rows, t);
}

int adapter_count(const train_case *tc, int kind)
{
    adapter beside[RIDGE_WEIGHT_MAX];
    return list_adapters(tc, kind, beside);
}

double adapter_params(const train_case *tc, int kind)
{
    adapter beside[RIDGE_WEIGHT_MAX];
    const int n = list_adapters(tc, kind, beside);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += beside[i].copies * (beside[i].in + beside[i].out);
    return sum * (double)ridge_lora_rank(&tc->lora);
}

double adapter_flops_per_token(const train_case *tc)
{
    double params = 0;
    for (int k = 0; k < tc->n_kinds; k++)
        params += (double)tc->kinds[k].count * adapter_params(tc, k);
    return 6 * params;
}

double adapter_kept_bytes(const train_case *tc, int kind)
{
    adapter beside[RIDGE_WEIGHT_MAX];
    const int n = list_adapters(tc, kind, beside);
    double adapters = 0;
    for (int i = 0; i < n; i++)
        adapters += beside[i].copies;
    return adapters * (double)ridge_lora_rank(&tc->lora) *
           ridge_dtype_bytes(format_of(tc));
}

double adapter_stage_params(const train_case *tc, const train_stage *stage,
                            const ridge_layout *l)
{
    double params = 0;
    for (int k = 0; tc->policy->is_frozen && k < tc->n_kinds; k++)
        params += stage->copies * stage->layers[k] * adapter_params(tc, k);
    return params / (double)l->tp;
}

/* As weights that are trained with AdamW have it. */
void adapter_add_state(const train_case *tc, const train_stage *stage,
                       const ridge_layout *l, ridge_memory_parts *m)
{
    const ridge_policy *p = ridge_precision_policy(l->precision);
    const double params = adapter_stage_params(tc, stage, l);
    const double shards = (double)train_layout_ways(l).shards;
    if (!tc->policy->is_frozen)
        return;
    m->weights_bytes += params * p->weight_bytes / (l->zero_stage >= 3 ? shards : 1);
    m->gradients_bytes +=
        params * p->gradient_bytes / (l->zero_stage >= 2 ? shards : 1);
    m->optimizer_bytes += params * (p->master_bytes + p->moment_bytes) /
                          (l->zero_stage >= 1 ? shards : 1);
}

double adapter_update_bytes(const train_case *tc, const train_stage *stage,
                            const ridge_layout *l)
{
    const ridge_policy *p = ridge_precision_policy(l->precision);
    return adapter_stage_params(tc, stage, l) / (double)train_layout_ways(l).shards *
           (p->gradient_bytes + p->weight_bytes +
            2 * (p->master_bytes + p->moment_bytes));
}
