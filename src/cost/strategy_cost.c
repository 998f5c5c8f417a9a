/*
 * The time of one strategy: its local product on a chip, its steps on the network, and
 * what of both can run at once.
 */
#include "ridge/cost_strategy.h"

#include <math.h>

/* ---- the local product ---------------------------------------------------------- */

/* Dims of an array as bits of the expression's dims. */
static uint64_t dims_of(const ridge_expr_tensor *t)
{
    uint64_t dims = 0;
    for (int d = 0; d < t->n_dims; d++)
        dims |= UINT64_C(1) << t->dims[d];
    return dims;
}

/* Local length of every dim, padded; 1 where no operand has it. */
static void local_sizes(const ridge_expr *e, const ridge_strategy *s, double *out)
{
    for (int d = 0; d < e->n_dims; d++)
        out[d] = 1;
    for (int i = 0; i < e->n_inputs; i++) {
        const ridge_expr_tensor *t = &e->inputs[i];
        for (int d = 0; d < t->n_dims; d++) {
            out[t->dims[d]] = (double)ridge_dim_local(&e->mesh, &s->inputs[i].dims[d],
                                                      e->dims[t->dims[d]].size);
        }
    }
}

static double product_of(const double *sizes, uint64_t dims)
{
    double product = 1;
    for (int d = 0; dims; d++, dims >>= 1)
        product *= dims & 1 ? sizes[d] : 1;
    return product;
}

/* Two arrays contracted to the dims of a third, with the formats of the call. */
typedef struct contraction {
    uint64_t a, b, c;
    ridge_formats formats;
} contraction;

static ridge_op_cost contract(const ridge_chip *chip, const contraction *x,
                              const double *sizes)
{
    const uint64_t both = x->a & x->b;
    if (both & ~x->c) {
        const ridge_matmul op = {
            .batch = product_of(sizes, both & x->c),
            .m = product_of(sizes, x->a & ~x->b),
            .k = product_of(sizes, both & ~x->c),
            .n = product_of(sizes, x->b & ~x->a),
            .summed = product_of(sizes, (x->a ^ x->b) & ~x->c),
            .activation = x->formats.activation,
            .weight = x->formats.weight,
            .output = x->formats.output,
            .compute = x->formats.compute,
        };
        return ridge_matmul_cost(chip, &op, RIDGE_MEMORY_HBM);
    }
    const double bytes =
        product_of(sizes, x->a) * ridge_dtype_bytes(x->formats.activation) +
        (x->b ? product_of(sizes, x->b) * ridge_dtype_bytes(x->formats.weight) : 0) +
        product_of(sizes, x->c) * ridge_dtype_bytes(x->formats.output);
    const bool is_summed = ((x->a | x->b) & ~x->c) != 0;
    const double flops = (x->b ? 1 : 0) + (is_summed ? 1 : 0);
    return ridge_stream_cost(chip, flops * product_of(sizes, x->a | x->b), bytes);
}

static uint64_t dims_wanted_after(const ridge_expr *e, int input)
{
    uint64_t dims = dims_of(&e->output);
    for (int i = input + 1; i < e->n_inputs; i++)
        dims |= dims_of(&e->inputs[i]);
    return dims;
}

/* Operands from left to right; what lies between has the output's format. */
static void price_product(const ridge_expr *e, const ridge_strategy *s,
                          const ridge_chip *chip, const ridge_formats *formats,
                          ridge_strategy_cost *out)
{
    double sizes[RIDGE_PROGRAM_DIM_MAX];
    contraction x = {.a = dims_of(&e->inputs[0]), .formats = *formats};
    local_sizes(e, s, sizes);
    for (int i = e->n_inputs > 1 ? 1 : 0; i < e->n_inputs; i++) {
        x.b = i > 0 ? dims_of(&e->inputs[i]) : 0;
        x.c = (x.a | x.b) & dims_wanted_after(e, i);
        const ridge_op_cost cost = contract(chip, &x, sizes);
        out->compute.expected_s += fmax(cost.expected_s, cost.bound_s);
        out->compute.bound_s += cost.bound_s;
        out->flops += cost.matmul_flops + cost.vector_flops;
        out->bound_by = cost.bound_by;
        x.a = x.c;
        x.formats.activation = formats->output;
    }
}

/* ---- steps ---------------------------------------------------------------------- */

_Static_assert((int)RIDGE_STEP_ALL_GATHER == (int)RIDGE_COLLECTIVE_ALL_GATHER &&
                   (int)RIDGE_STEP_REDUCE_SCATTER ==
                       (int)RIDGE_COLLECTIVE_REDUCE_SCATTER &&
                   (int)RIDGE_STEP_ALL_REDUCE == (int)RIDGE_COLLECTIVE_ALL_REDUCE &&
                   (int)RIDGE_STEP_ALL_TO_ALL == (int)RIDGE_COLLECTIVE_ALL_TO_ALL,
               "steps are numbered as collectives");

/* Whether a step can run in chunks beside the product: the last of an operand's, if a
 * gather; the first of the product's, if a scatter. */
static bool is_beside_product(const ridge_strategy *s, int step)
{
    const ridge_reshard *own = &s->steps[step];
    if (step >= s->n_before)
        return step == s->n_before && own->kind == RIDGE_STEP_REDUCE_SCATTER;
    for (int i = step + 1; i < s->n_before; i++) {
        if (s->steps[i].operand == own->operand)
            return false;
    }
    return own->kind == RIDGE_STEP_ALL_GATHER;
}

/* How busy each network axis is at the least, and what collective matmul hides. */
typedef struct traffic {
    double busy_s[RIDGE_AXIS_MAX];
    double exposed_s, hidden_s;
} traffic;

/* The share of a step that runs before the product can begin: its first chunk. */
static double first_chunk(const ridge_expr *e, const ridge_strategy *s, int step)
{
    const double ranks = (double)ridge_reshard_ranks(&e->mesh, &s->steps[step]);
    return is_beside_product(s, step) ? 1 / ranks : 1;
}

static void add_step(double chunk, const ridge_group *group, const ridge_time *time,
                     traffic *t)
{
    t->exposed_s += chunk * time->expected_s;
    t->hidden_s += (1 - chunk) * time->expected_s;
    for (int i = 0; i < group->n_spans; i++)
        t->busy_s[group->spans[i].axis] += time->bound_s;
}

static void price_steps(const ridge_expr *e, const ridge_strategy *s,
                        const ridge_laid_mesh *laid, traffic *t,
                        ridge_strategy_cost *out)
{
    for (int i = 0; i < s->n_steps; i++) {
        const ridge_reshard *step = &s->steps[i];
        const ridge_group group = ridge_laid_mesh_group(laid, step->axes, step->n_axes);
        if (step->kind == RIDGE_STEP_SLICE || group.ranks <= 1)
            continue;
        out->steps[i] = ridge_collective_time(laid->slice, (ridge_collective)step->kind,
                                              step->bytes, &group);
        out->network_s += out->steps[i].expected_s;
        add_step(first_chunk(e, s, i), &group, &out->steps[i], t);
    }
}

ridge_strategy_cost ridge_strategy_price(const ridge_expr *expr,
                                         const ridge_strategy *s,
                                         const ridge_laid_mesh *laid,
                                         const ridge_formats *formats)
{
    ridge_strategy_cost cost = {.flops = 0};
    traffic t = {.exposed_s = 0};
    price_product(expr, s, laid->slice->chip, formats, &cost);
    price_steps(expr, s, laid, &t, &cost);
    const double compute_s = cost.compute.expected_s;
    cost.time_s = compute_s + cost.network_s;
    cost.exposed_s = t.exposed_s + fmax(0, t.hidden_s - compute_s);
    cost.overlapped_s = compute_s + cost.exposed_s;
    cost.bound_s = cost.compute.bound_s;
    for (int axis = 0; axis < RIDGE_AXIS_MAX; axis++) {
        if (t.busy_s[axis] <= cost.bound_s)
            continue;
        cost.bound_s = t.busy_s[axis];
        cost.bound_by = RIDGE_BOUND_NETWORK;
    }
    return cost;
}

ridge_range ridge_strategy_range(const ridge_strategy *s,
                                 const ridge_strategy_cost *cost, bool has_overlap)
{
    ridge_range sum = ridge_range_of(RIDGE_MEASURED_MATMUL, cost->compute);
    for (int i = 0; i < s->n_steps; i++) {
        const ridge_collective kind = (ridge_collective)s->steps[i].kind;
        if (s->steps[i].kind != RIDGE_STEP_SLICE)
            sum =
                ridge_range_sum(sum, ridge_range_of(ridge_measured_of_collective(kind),
                                                    cost->steps[i]));
    }
    if (!has_overlap || cost->time_s <= 0)
        return sum;
    const double share = cost->overlapped_s / cost->time_s;
    return (ridge_range){fmax(cost->bound_s, sum.low_s * share),
                         fmax(cost->bound_s, sum.high_s * share)};
}
