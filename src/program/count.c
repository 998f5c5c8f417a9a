/* What operations ask for: matmul FLOPs, vector FLOPs, bytes. Operands are read and
 * results written once; what is fused is for those who cost. */
#include "builder.h"

/* Vector FLOPs an element; an exponential counts as one. */
enum {
    NORM_FLOPS = 4,    /* square, sum, scale, weight */
    CENTRE_FLOPS = 3,  /* more of a norm of kind layer: sum, difference, bias */
    SOFTMAX_FLOPS = 5, /* a score: scale, maximum, subtract, exponential, sum */
    LOSS_FLOPS = 4,    /* a logit: maximum, subtract, exponential, sum */
    ROUTE_FLOPS = 6,   /* a logit: softmax, and finding the largest */
    UPDATE_FLOPS = 12, /* a weight: two averages, a root, a quotient, the step */
    SCAN_FLOPS = 2     /* a channel and token: decay and sum */
};

static double size_of(const ridge_program *p, int dim)
{
    return dim >= 0 ? (double)p->dims[dim].size : 1;
}

/* Elements of a tensor that are in use, up to but not including dim position end. */
static double used_until(const ridge_program *p, const ridge_tensor *t, int end)
{
    double elements = 1;
    for (int i = 0; i < end; i++)
        elements *= ridge_program_dim_used(&p->dims[t->dims[i]]);
    return elements;
}

static double used(const ridge_program *p, int tensor)
{
    return used_until(p, &p->tensors[tensor], p->tensors[tensor].n_dims);
}

static double bytes_of(const ridge_program *p, int tensor)
{
    return used(p, tensor) * ridge_dtype_bytes(p->tensors[tensor].dtype);
}

/* ---- matmuls --------------------------------------------------------------------- */

/* Bits of the program dims of a tensor. */
static uint64_t dims_of(const ridge_program *p, int tensor)
{
    uint64_t bits = 0;
    const ridge_tensor *t = &p->tensors[tensor];
    for (int i = 0; i < t->n_dims; i++)
        bits |= (uint64_t)1 << t->dims[i];
    return bits;
}

static double product_of(const ridge_program *p, uint64_t dims)
{
    double product = 1;
    for (int i = 0; i < p->n_dims; i++) {
        if (dims >> i & 1)
            product *= ridge_program_dim_used(&p->dims[i]);
    }
    return product;
}

static double einsum_flops(const ridge_program *p, const ridge_operation *op)
{
    if (op->n_inputs < 2)
        return 0;
    return 2 * product_of(p, dims_of(p, op->inputs[0]) | dims_of(p, op->inputs[1]));
}

/* Sum over positions 0 .. n of the tokens that each meets. */
static double met_until(double n, double window)
{
    if (n <= 0)
        return 0;
    if (window <= 0 || n <= window)
        return n * n / 2;
    return window * window / 2 + window * (n - window);
}

double ridge__attention_context(const ridge_program *program, const ridge_operation *op,
                                const ridge_attention_shape *shape)
{
    const double t = size_of(program, shape->t), s = size_of(program, shape->s);
    const double window = (double)op->window;
    const double far = shape->far >= 0 ? size_of(program, shape->far) : 0;
    const double seen = window > 0 && window < s ? window : s;
    if (!op->is_causal)
        return seen + far;
    if (op->is_window_chunked && window > 0)
        return seen / 2 + far / 2;
    return (met_until(s, window) - met_until(s - t, window)) / t + far / 2;
}

static double context_of(const ridge_program *p, const ridge_operation *op,
                         const ridge_attention_shape *shape)
{
    return op->context_tokens > 0 ? op->context_tokens
                                  : ridge__attention_context(p, op, shape);
}

/* Scores of all heads and queries. */
static double scores_of(const ridge_program *p, const ridge_operation *op,
                        const ridge_attention_shape *shape)
{
    double queries = size_of(p, shape->t) * size_of(p, shape->heads);
    for (int i = 0; i < shape->n_batch; i++)
        queries *= size_of(p, shape->batch[i]);
    return queries * context_of(p, op, shape);
}

/* 2 N (H + Hv) a token and token that it meets. @source scaling-book-2025, chapter 4 */
static void count_attention(const ridge_program *p, const ridge_operation *op,
                            ridge_op_count *c)
{
    ridge_attention_shape shape;
    if (!ridge_attention_shape_of(p, op, &shape))
        return;
    const double rope = shape.rope >= 0 ? size_of(p, shape.rope) : 0;
    const double scores = scores_of(p, op, &shape);
    c->matmul_flops = 2 * scores * (size_of(p, shape.h) + rope + size_of(p, shape.hv));
    c->vector_flops = SOFTMAX_FLOPS * scores;
}

/* Tokens of a scan: the dims of its first input before the heads or channels. */
static double scan_tokens(const ridge_program *p, const ridge_operation *op)
{
    const ridge_tensor *x = &p->tensors[op->inputs[0]];
    const int channels =
        op->scan == RIDGE_SCAN_CONVOLUTION ? p->tensors[op->inputs[1]].n_dims - 1 : 2;
    return used_until(p, x, x->n_dims > channels ? x->n_dims - channels : 0);
}

static void count_scan(const ridge_program *p, const ridge_operation *op,
                       ridge_op_count *c)
{
    c->matmul_flops = op->scan_flops_per_token * scan_tokens(p, op);
    c->vector_flops = SCAN_FLOPS * used(p, op->inputs[0]);
    if (op->scan == RIDGE_SCAN_CONVOLUTION) { /* a product and a sum for each tap */
        const ridge_tensor *w = &p->tensors[op->inputs[1]];
        c->vector_flops *= size_of(p, w->dims[w->n_dims - 1]);
    }
}

/* ---- vector work ----------------------------------------------------------------- */

static double plain_vector_flops(const ridge_program *p, const ridge_operation *op)
{
    switch (op->code) {
    case RIDGE_OPCODE_EINSUM:
        return op->n_inputs > 1 ? 0 : used(p, op->inputs[0]) - used(p, op->outputs[0]);
    case RIDGE_OPCODE_NORM:
        return (NORM_FLOPS + (op->norm == RIDGE_NORM_LAYER ? CENTRE_FLOPS : 0)) *
               used(p, op->inputs[0]);
    case RIDGE_OPCODE_ELEMENTWISE:
        return ridge_function_flops(op->function) * used(p, op->outputs[0]);
    case RIDGE_OPCODE_LOSS:
        return LOSS_FLOPS * used(p, op->inputs[0]);
    case RIDGE_OPCODE_ROUTE:
        return ROUTE_FLOPS * used(p, op->inputs[0]);
    case RIDGE_OPCODE_COMBINE:
        return 2 * used(p, op->inputs[0]);
    case RIDGE_OPCODE_UPDATE:
        return UPDATE_FLOPS * used(p, op->inputs[0]);
    case RIDGE_OPCODE_ATTENTION:
    case RIDGE_OPCODE_SCAN:
    case RIDGE_OPCODE_GATHER:
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COLLECTIVE:
    case RIDGE_OPCODE_SEND:
        break;
    }
    return 0;
}

/* Einsums and sums are what they are; the rest takes twice its forward work: for
 * attention four matmuls to two (a kernel's fifth, QK again, is in no count). */
static double backward_factor(const ridge_operation *op)
{
    const bool is_plain =
        op->code == RIDGE_OPCODE_EINSUM || op->code == RIDGE_OPCODE_ROUTE ||
        (op->code == RIDGE_OPCODE_ELEMENTWISE &&
         (op->function == RIDGE_FUNCTION_COPY || op->function == RIDGE_FUNCTION_ADD ||
          op->function == RIDGE_FUNCTION_MULTIPLY ||
          op->function == RIDGE_FUNCTION_SCALE ||
          op->function == RIDGE_FUNCTION_ROTARY));
    return op->is_backward && !is_plain ? 2 : 1;
}

/* ---- bytes ----------------------------------------------------------------------- */

/* Share of an operand of an einsum that is read: where less than one row of an expert
 * is in use, that share of the experts' weights is. */
static double touched(const ridge_program *p, const ridge_operation *op, int tensor)
{
    double share = 1;
    if (op->code != RIDGE_OPCODE_EINSUM || op->n_inputs < 2)
        return share;
    const uint64_t own = dims_of(p, tensor);
    const uint64_t other =
        dims_of(p, op->inputs[op->inputs[0] == tensor ? 1 : 0]) & ~own;
    for (int i = 0; i < p->n_dims; i++) {
        const ridge_program_dim *d = &p->dims[i];
        if ((other >> i & 1) && d->used > 0 && d->used < 1)
            share *= d->used;
    }
    return share;
}

/* Share of keys and values that is read when indices say which. */
static double chosen_share(const ridge_program *p, const ridge_operation *op, int input)
{
    ridge_attention_shape shape;
    if (!ridge_attention_shape_of(p, op, &shape) || shape.chosen < 0)
        return 1;
    const bool has_far = shape.far >= 0;
    const int far_at =
        3 + (shape.rope >= 0 ? 2 : 0) + (op->extras & RIDGE_ATTENTION_SINKS ? 1 : 0);
    const bool is_among =
        has_far ? input == far_at
                : input == 1 || input == 2 || (shape.rope >= 0 && input == 4);
    const double wanted = size_of(p, shape.chosen) * size_of(p, shape.t);
    const double all = size_of(p, has_far ? shape.far : shape.s);
    return is_among && wanted < all ? wanted / all : 1;
}

static double input_bytes(const ridge_program *p, const ridge_operation *op, int i)
{
    const double whole = bytes_of(p, op->inputs[i]);
    if (op->code == RIDGE_OPCODE_GATHER && !op->is_backward && i == 0) {
        const ridge_dtype dtype = p->tensors[op->inputs[0]].dtype;
        const double rows = used(p, op->outputs[0]) * ridge_dtype_bytes(dtype);
        return rows < whole ? rows : whole;
    }
    if (op->code == RIDGE_OPCODE_ATTENTION)
        return whole * chosen_share(p, op, i);
    return whole * touched(p, op, op->inputs[i]);
}

static double output_bytes(const ridge_program *p, const ridge_operation *op, int i)
{
    const ridge_tensor *out = &p->tensors[op->outputs[i]];
    if (op->code == RIDGE_OPCODE_ELEMENTWISE && op->function == RIDGE_FUNCTION_APPEND) {
        const double written = used(p, op->inputs[0]) * ridge_dtype_bytes(out->dtype);
        const double whole = bytes_of(p, op->outputs[0]);
        return written < whole ? written : whole;
    }
    const bool is_read_too = op->is_added || out->role == RIDGE_ROLE_CACHE;
    return bytes_of(p, op->outputs[i]) * (is_read_too ? 2 : 1);
}

/* ---- operations and programs ----------------------------------------------------- */

ridge_op_count ridge_operation_count(const ridge_program *program,
                                     const ridge_operation *op)
{
    ridge_op_count c = {0};
    if (op->code == RIDGE_OPCODE_ATTENTION) {
        count_attention(program, op, &c);
    } else if (op->code == RIDGE_OPCODE_SCAN) {
        count_scan(program, op, &c);
    } else {
        c.vector_flops = plain_vector_flops(program, op);
        if (op->code == RIDGE_OPCODE_EINSUM)
            c.matmul_flops = einsum_flops(program, op);
    }
    c.matmul_flops *= backward_factor(op);
    c.vector_flops *= backward_factor(op);
    for (int i = 0; i < op->n_inputs; i++)
        c.bytes += input_bytes(program, op, i);
    for (int i = 0; i < op->n_outputs; i++)
        c.bytes += output_bytes(program, op, i);
    return c;
}

ridge_op_count ridge_program_count(const ridge_program *program)
{
    ridge_op_count sum = {0};
    for (int b = 0; b < program->n_blocks; b++) {
        const ridge_block *block = &program->blocks[b];
        const double repeat = (double)block->repeat;
        for (int i = 0; i < block->n_ops; i++) {
            const ridge_op_count c =
                ridge_operation_count(program, &program->ops[block->first_op + i]);
            sum.matmul_flops += repeat * c.matmul_flops;
            sum.vector_flops += repeat * c.vector_flops;
            sum.bytes += repeat * c.bytes;
        }
    }
    return sum;
}
