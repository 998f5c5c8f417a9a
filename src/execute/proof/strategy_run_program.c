/*
 * A strategy as a partitioned program: operands are weights, each step is a collective
 * or a slice, the product is einsums of two factors from left to right.
 */
#include "strategy_run.h"

#include <string.h>

enum { TENSORS_MOST = RIDGE_EXPR_INPUT_MAX + RIDGE__STRATEGY_OP_MAX };

typedef struct draft {
    ridge_ctx *cx;
    const ridge_strategy_run *run;
    const ridge_expr *expr;
    const ridge_strategy *strategy;
    ridge_program *program;
    ridge_sharding *shardings;
    int *copy_of;
    ridge__strategy_program *made;
    int now[RIDGE_EXPR_INPUT_MAX + 1]; /* tensor that holds an operand; the product */
} draft;

/* ---- parts of programs -------------------------------------------------------------
 */

static int add_tensor(draft *d, ridge_role role, ridge_dtype dtype, int n_dims,
                      const int *dims)
{
    const int t = d->program->n_tensors++;
    ridge_tensor *tensor = &d->program->tensors[t];
    *tensor = (ridge_tensor){
        .name = ridge_sprintf(ridge_ctx_arena(d->cx), "t%d", t),
        .role = role,
        .dtype = dtype,
        .n_dims = n_dims,
        .gradient_of = -1,
    };
    memcpy(tensor->dims, dims, (size_t)n_dims * sizeof *dims);
    d->shardings[t] = (ridge_sharding){.n_dims = n_dims};
    d->copy_of[t] = t;
    return t;
}

static ridge_operation *add_op(draft *d, ridge_opcode code, const char *name, int step)
{
    const int at = d->program->n_ops++;
    d->made->step_of[at] = step;
    d->program->ops[at] = (ridge_operation){.name = name,
                                            .code = code,
                                            .forward_of = -1,
                                            .position_dim = -1,
                                            .n_outputs = 1,
                                            .dim_from = -1,
                                            .dim_to = -1};
    return &d->program->ops[at];
}

/* ---- steps --------------------------------------------------------------------------
 */

static ridge_status add_step(draft *d, int index)
{
    const ridge_reshard *step = &d->strategy->steps[index];
    const int from = d->now[step->operand];
    const ridge_tensor *t = &d->program->tensors[from];
    ridge_sharding after = d->shardings[from];
    ridge_buf name;
    ridge_buf_init(&name, ridge_ctx_arena(d->cx));
    ridge_reshard_write(d->expr, step, &name);
    const bool is_slice = step->kind == RIDGE_STEP_SLICE;
    ridge_operation *op =
        add_op(d, is_slice ? RIDGE_OPCODE_ELEMENTWISE : RIDGE_OPCODE_COLLECTIVE,
               ridge_buf_text(&name), index);
    if (!ridge_reshard_apply(&d->expr->mesh, &after, step))
        return ridge_fail(d->cx, RIDGE_E_INTERNAL, "%s does not apply", op->name);
    const int to = add_tensor(d, RIDGE_ROLE_ACTIVATION, t->dtype, t->n_dims, t->dims);
    d->shardings[to] = after;
    op->function = RIDGE_FUNCTION_COPY;
    op->n_inputs = 1;
    op->inputs[0] = from;
    op->outputs[0] = to;
    op->collective = (int)step->kind;
    op->n_axes = is_slice ? 0 : step->n_axes;
    memcpy(op->axes, step->axes, (size_t)op->n_axes * sizeof op->axes[0]);
    op->dim_from = step->dim_from >= 0 ? t->dims[step->dim_from] : -1;
    op->dim_to = step->dim_to >= 0 ? t->dims[step->dim_to] : -1;
    d->now[step->operand] = to;
    return RIDGE_OK;
}

/* ---- the product --------------------------------------------------------------------
 */

static uint64_t dims_of(int n, const int *dims)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++)
        bits |= UINT64_C(1) << dims[i];
    return bits;
}

static uint64_t tensor_dims(const draft *d, int tensor)
{
    const ridge_tensor *t = &d->program->tensors[tensor];
    return dims_of(t->n_dims, t->dims);
}

/* Dims that operands behind @p input or the output have. */
static uint64_t wanted_behind(const ridge_expr *e, int input)
{
    uint64_t bits = dims_of(e->output.n_dims, e->output.dims);
    for (int i = input + 1; i < e->n_inputs; i++)
        bits |= dims_of(e->inputs[i].n_dims, e->inputs[i].dims);
    return bits;
}

/* A dim lies in the product as in a factor; one that is summed leaves partial sums. */
static void lay_dim(const ridge_tensor *result, int dim, const ridge_dim_axes *axes,
                    ridge_sharding *out)
{
    for (int i = 0; i < result->n_dims; i++) {
        if (result->dims[i] == dim) {
            out->dims[i] = *axes;
            return;
        }
    }
    for (int i = 0; i < axes->n; i++)
        out->partial |= 1u << axes->axes[i];
}

static void lay_result(draft *d, const ridge_operation *op)
{
    const ridge_tensor *result = &d->program->tensors[op->outputs[0]];
    ridge_sharding *out = &d->shardings[op->outputs[0]];
    for (int i = 0; i < op->n_inputs; i++) {
        const ridge_tensor *t = &d->program->tensors[op->inputs[i]];
        const ridge_sharding *s = &d->shardings[op->inputs[i]];
        out->partial |= s->partial;
        for (int k = 0; k < t->n_dims; k++)
            lay_dim(result, t->dims[k], &s->dims[k], out);
    }
}

/* An einsum of one or two tensors (b < 0: one) to the dims given. @return the result */
static int add_einsum(draft *d, int a, int b, int n_dims, const int *dims)
{
    ridge_operation *op = add_op(d, RIDGE_OPCODE_EINSUM, "multiply", -1);
    op->n_inputs = b < 0 ? 1 : 2;
    op->inputs[0] = a;
    op->inputs[1] = b;
    op->outputs[0] =
        add_tensor(d, RIDGE_ROLE_ACTIVATION,
                   ridge__expr_format(d->run, d->expr->n_inputs), n_dims, dims);
    lay_result(d, op);
    return op->outputs[0];
}

/* Dims of a tensor that are among @p keep, behind those already listed. */
static int append_dims(const draft *d, int tensor, uint64_t keep, int *dims, int n)
{
    const ridge_tensor *t = &d->program->tensors[tensor];
    for (int i = 0; i < t->n_dims; i++) {
        const bool is_listed = dims_of(n, dims) >> t->dims[i] & 1;
        if ((keep >> t->dims[i] & 1) && !is_listed)
            dims[n++] = t->dims[i];
    }
    return n;
}

/* Dims that this factor alone has and nobody wants are summed before. */
static int sum_alone(draft *d, int tensor, uint64_t keep)
{
    int dims[RIDGE_TENSOR_DIM_MAX];
    const int n = append_dims(d, tensor, keep, dims, 0);
    return n == d->program->tensors[tensor].n_dims ? tensor
                                                   : add_einsum(d, tensor, -1, n, dims);
}

static ridge_status add_product(draft *d)
{
    const ridge_expr *e = d->expr;
    const ridge_expr_tensor *out = &e->output;
    int a = d->now[0];
    if (e->n_inputs == 1)
        a = add_einsum(d, a, -1, out->n_dims, out->dims);
    for (int i = 1; i < e->n_inputs; i++) {
        int dims[2 * RIDGE_TENSOR_DIM_MAX];
        const uint64_t wanted = wanted_behind(e, i);
        int b = d->now[i];
        const uint64_t in_a = tensor_dims(d, a), in_b = tensor_dims(d, b);
        a = sum_alone(d, a, wanted | in_b);
        b = sum_alone(d, b, wanted | in_a);
        const int n =
            append_dims(d, b, wanted, dims, append_dims(d, a, wanted, dims, 0));
        if (n > RIDGE_TENSOR_DIM_MAX) {
            return ridge_fail(d->cx, RIDGE_E_ARG,
                              "the product of the first %d operands has %d dims, at "
                              "most %d: order them so that sums come earlier",
                              i + 1, n, RIDGE_TENSOR_DIM_MAX);
        }
        a = i + 1 < e->n_inputs ? add_einsum(d, a, b, n, dims)
                                : add_einsum(d, a, b, out->n_dims, out->dims);
    }
    d->now[e->n_inputs] = a;
    if (!ridge_sharding_equal(&d->shardings[a], &d->strategy->output))
        return ridge_fail(d->cx, RIDGE_E_INTERNAL, "the product does not lie as said");
    return RIDGE_OK;
}

/* ---- the whole ----------------------------------------------------------------------
 */

static ridge_status open_draft(draft *d)
{
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    const ridge_expr *e = d->expr;
    ridge_program *p = ridge_new(arena, ridge_program, 1);
    ridge_partition *partition = ridge_new(arena, ridge_partition, 1);
    d->shardings = ridge_new(arena, ridge_sharding, TENSORS_MOST);
    d->copy_of = ridge_new(arena, int, TENSORS_MOST);
    if (!p || !partition || !d->shardings || !d->copy_of)
        return ridge_fail_nomem(d->cx);
    *p = (ridge_program){.name = "strategy",
                         .phase = RIDGE_PHASE_PREFILL,
                         .n_dims = e->n_dims,
                         .n_blocks = 1,
                         .dims = ridge_new(arena, ridge_program_dim, (size_t)e->n_dims),
                         .tensors = ridge_new(arena, ridge_tensor, TENSORS_MOST),
                         .ops =
                             ridge_new(arena, ridge_operation, RIDGE__STRATEGY_OP_MAX),
                         .blocks = ridge_new(arena, ridge_block, 1)};
    if (!p->dims || !p->tensors || !p->ops || !p->blocks)
        return ridge_fail_nomem(d->cx);
    /* letters have a meaning in models, but none here */
    for (int i = 0; i < e->n_dims; i++) {
        p->dims[i] = (ridge_program_dim){.name = ridge_sprintf(arena, "d%d", i),
                                         .size = e->dims[i].size};
    }
    *partition = (ridge_partition){.program = p,
                                   .mesh = e->mesh,
                                   .shardings = d->shardings,
                                   .copy_of = d->copy_of};
    d->program = p;
    d->made->partition = partition;
    return RIDGE_OK;
}

ridge_status ridge__strategy_program_make(ridge_ctx *cx, const ridge_strategy_run *run,
                                          const ridge_strategy *strategy,
                                          ridge__strategy_program *out)
{
    draft d = {
        .cx = cx, .run = run, .expr = run->expr, .strategy = strategy, .made = out};
    RIDGE_TRY(open_draft(&d));
    for (int i = 0; i < d.expr->n_inputs; i++) {
        const ridge_expr_tensor *t = &d.expr->inputs[i];
        d.now[i] = add_tensor(&d, RIDGE_ROLE_WEIGHT, ridge__expr_format(run, i),
                              t->n_dims, t->dims);
        d.shardings[d.now[i]] = t->sharding;
        out->inputs[i] = d.now[i];
    }
    for (int i = 0; i < strategy->n_before; i++)
        RIDGE_TRY(add_step(&d, i));
    RIDGE_TRY(add_product(&d));
    for (int i = strategy->n_before; i < strategy->n_steps; i++)
        RIDGE_TRY(add_step(&d, i));
    out->output = d.now[d.expr->n_inputs];
    if (!ridge_sharding_equal(&d.shardings[out->output], &d.expr->output.sharding)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the steps do not leave %s as it is wanted: take those of "
                          "ridge_expr_strategies",
                          d.expr->output.name);
    }
    d.program->blocks[0] = (ridge_block){.name = "strategy",
                                         .repeat = 1,
                                         .n_ops = d.program->n_ops,
                                         .carry_in = -1,
                                         .carry_out = -1,
                                         .layer = -1,
                                         .forward_of = -1};
    return RIDGE_OK;
}
