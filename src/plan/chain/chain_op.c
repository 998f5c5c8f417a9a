/* What sharding may do to one operation, and what it takes when sharded. */
#include "chain_op.h"

#include <math.h>

int chain_op_tensor(const ridge_program *program, const chain_op *o, int array)
{
    const ridge_operation *op = &program->ops[o->op];
    return array < o->n_inputs ? op->inputs[array] : op->outputs[0];
}

static const ridge_tensor *tensor_of(const ridge_program *program, const chain_op *o,
                                     int array)
{
    return &program->tensors[chain_op_tensor(program, o, array)];
}

/* Attention has three letters that are no program dim. */
enum { CHAIN_DIM_MAX = CHAIN_LETTER_MAX - 3 };

/* ---- letters -------------------------------------------------------------------- */

static int add_letter(chain_op *o, int64_t size, bool can_cut)
{
    const int letter = o->n_letters++; /* at most those of all arrays' dims */
    o->sizes[letter] = size;
    o->can_cut[letter] = can_cut;
    return letter;
}

/* A letter for each program dim of the operation. */
static ridge_status letters_by_dim(ridge_ctx *cx, const ridge_program *program,
                                   chain_op *o)
{
    int dims[CHAIN_LETTER_MAX];
    for (int array = 0; array <= o->n_inputs; array++) {
        const ridge_tensor *t = tensor_of(program, o, array);
        for (int d = 0; d < t->n_dims; d++) {
            int letter = 0;
            while (letter < o->n_letters && dims[letter] != t->dims[d])
                letter++;
            if (letter == CHAIN_DIM_MAX) {
                return ridge_fail(cx, RIDGE_E_ARG, "operation %s has more than %d dims",
                                  program->ops[o->op].name, CHAIN_DIM_MAX);
            }
            if (letter == o->n_letters) {
                dims[letter] = t->dims[d];
                add_letter(o, program->dims[t->dims[d]].size, true);
            }
            o->letters[array][d] = letter;
        }
    }
    return RIDGE_OK;
}

/* The dims over which a norm works stay whole: the weight's, or the last one. */
static void keep_norm_whole(const ridge_program *program, chain_op *o)
{
    const int n = tensor_of(program, o, 0)->n_dims;
    const int whole = o->n_inputs > 1 ? tensor_of(program, o, 1)->n_dims : 1;
    for (int d = n - whole < 0 ? 0 : n - whole; d < n; d++)
        o->can_cut[o->letters[0][d]] = false;
}

static void keep_last_whole(const ridge_program *program, chain_op *o)
{
    const int n = tensor_of(program, o, 0)->n_dims;
    if (n > 0)
        o->can_cut[o->letters[0][n - 1]] = false;
}

/* Query heads and the KV heads that they meet are one letter; T is cut of queries
 * alone, given all S, even where both are the same dim. */
static ridge_status attention_letters(ridge_ctx *cx, const ridge_program *program,
                                      chain_op *o)
{
    ridge_attention_shape shape;
    const ridge_operation *op = &program->ops[o->op];
    if (!ridge_attention_shape_of(program, op, &shape) || op->extras || op->is_backward)
        return ridge_fail(cx, RIDGE_E_ARG, "attention %s has extras", op->name);
    RIDGE_TRY(letters_by_dim(cx, program, o));
    const int heads = add_letter(o, program->dims[shape.heads].size, true);
    const int context = add_letter(o, program->dims[shape.s].size, false);
    const int width = add_letter(o, program->dims[shape.h].size, false);
    if (shape.kv_heads >= 0)
        o->sizes[heads] = program->dims[shape.kv_heads].size;
    o->can_cut[heads] = shape.kv_heads >= 0;
    o->must_divide[heads] = true;
    for (int array = 0; array <= o->n_inputs; array++) {
        const ridge_tensor *t = tensor_of(program, o, array);
        const bool is_query = array == 0 || array == o->n_inputs;
        for (int d = 0; d < t->n_dims; d++) {
            const int dim = t->dims[d];
            if (dim == (is_query ? shape.heads : shape.kv_heads)) {
                o->letters[array][d] = heads;
            } else if (dim == shape.h || dim == shape.hv) {
                o->letters[array][d] = width;
            } else if (!is_query && dim == shape.s) {
                o->letters[array][d] = context;
            }
        }
    }
    return RIDGE_OK;
}

static ridge_status fail_kind(ridge_ctx *cx, const ridge_operation *op)
{
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "operation %s (%s) is not searched: einsums, attention, norms and "
        "elementwise operations are, forward, with one output",
        op->name, ridge_opcode_text(op->code));
}

ridge_status chain_op_read(ridge_ctx *cx, const ridge_program *program, int op,
                           chain_op *out)
{
    const ridge_operation *x = &program->ops[op];
    chain_op o = {.op = op, .n_inputs = x->n_inputs};
    if (x->n_outputs != 1 || x->n_inputs < 1 || x->n_inputs > RIDGE_CHAIN_INPUT_MAX ||
        x->is_added)
        return fail_kind(cx, x);
    if (x->code == RIDGE_OPCODE_ATTENTION) {
        RIDGE_TRY(attention_letters(cx, program, &o));
    } else if (x->code == RIDGE_OPCODE_EINSUM || x->code == RIDGE_OPCODE_NORM ||
               (x->code == RIDGE_OPCODE_ELEMENTWISE &&
                x->function != RIDGE_FUNCTION_APPEND)) {
        RIDGE_TRY(letters_by_dim(cx, program, &o));
    } else {
        return fail_kind(cx, x);
    }
    if (x->code == RIDGE_OPCODE_NORM)
        keep_norm_whole(program, &o);
    if (x->code == RIDGE_OPCODE_ELEMENTWISE && x->function == RIDGE_FUNCTION_ROTARY)
        keep_last_whole(program, &o);
    o.is_linear = x->code == RIDGE_OPCODE_EINSUM;
    *out = o;
    return RIDGE_OK;
}

/* ---- price ----------------------------------------------------------------------- */

static double local_elements(const ridge_chain_request *r, const chain_op *o, int array,
                             const ridge_sharding *s)
{
    const ridge_tensor *t = tensor_of(r->program, o, array);
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    for (int d = 0; d < t->n_dims; d++)
        sizes[d] = r->program->dims[t->dims[d]].size;
    return ridge_sharding_local_elements(r->mesh, s, sizes);
}

/* Local length of each letter. */
static void local_lengths(const ridge_chain_request *r, const chain_op *o,
                          const ridge_sharding *arrays, double *out)
{
    for (int array = 0; array <= o->n_inputs; array++) {
        const ridge_tensor *t = tensor_of(r->program, o, array);
        for (int d = 0; d < t->n_dims; d++) {
            out[o->letters[array][d]] = (double)ridge_dim_local(
                r->mesh, &arrays[array].dims[d], r->program->dims[t->dims[d]].size);
        }
    }
}

static unsigned letters_in(const ridge_chain_request *r, const chain_op *o, int array)
{
    unsigned letters = 0;
    for (int d = 0; d < tensor_of(r->program, o, array)->n_dims; d++)
        letters |= 1u << o->letters[array][d];
    return letters;
}

static double product_of(const double *lengths, unsigned letters)
{
    double product = 1;
    for (int i = 0; letters >> i; i++)
        product *= (letters >> i) & 1u ? lengths[i] : 1;
    return product;
}

static double stream_s(const ridge_chain_request *r, const chain_op *o,
                       const ridge_sharding *arrays, double flops_each)
{
    double bytes = 0, elements = 0;
    for (int array = 0; array <= o->n_inputs; array++) {
        elements = local_elements(r, o, array, &arrays[array]);
        bytes += elements * ridge_dtype_bytes(tensor_of(r->program, o, array)->dtype);
    }
    const ridge_op_cost cost =
        ridge_stream_cost(r->laid->slice->chip, flops_each * elements, bytes);
    return fmax(cost.expected_s, cost.bound_s);
}

static double einsum_s(const ridge_chain_request *r, const chain_op *o,
                       const ridge_sharding *arrays)
{
    double lengths[CHAIN_LETTER_MAX];
    const unsigned a = letters_in(r, o, 0);
    const unsigned b = o->n_inputs > 1 ? letters_in(r, o, 1) : 0;
    const unsigned c = letters_in(r, o, o->n_inputs);
    local_lengths(r, o, arrays, lengths);
    if (!(a & b & ~c) || o->n_inputs != 2)
        return stream_s(r, o, arrays, 1);
    const ridge_matmul op = {
        .batch = product_of(lengths, a & b & c),
        .m = product_of(lengths, a & ~b),
        .k = product_of(lengths, a & b & ~c),
        .n = product_of(lengths, b & ~a),
        .summed = product_of(lengths, (a ^ b) & ~c),
        .activation = tensor_of(r->program, o, 0)->dtype,
        .weight = tensor_of(r->program, o, 1)->dtype,
        .output = tensor_of(r->program, o, 2)->dtype,
        .compute = r->compute,
    };
    const ridge_op_cost cost =
        ridge_matmul_cost(r->laid->slice->chip, &op, RIDGE_MEMORY_HBM);
    return fmax(cost.expected_s, cost.bound_s);
}

/* Local length of a program dim in an array; 1 where it has none. */
static double length_in(const ridge_chain_request *r, const chain_op *o, int array,
                        int dim, const ridge_sharding *s)
{
    const ridge_tensor *t = tensor_of(r->program, o, array);
    for (int d = 0; d < t->n_dims; d++) {
        if (t->dims[d] == dim)
            return (double)ridge_dim_local(r->mesh, &s->dims[d],
                                           r->program->dims[dim].size);
    }
    return 1;
}

static double attention_s(const ridge_chain_request *r, const chain_op *o,
                          const ridge_sharding *arrays)
{
    const ridge_operation *x = &r->program->ops[o->op];
    ridge_attention_shape shape;
    if (!ridge_attention_shape_of(r->program, x, &shape))
        return 0;
    ridge_attention op = {
        .batch = 1,
        .query_tokens = length_in(r, o, 0, shape.t, &arrays[0]),
        .context_tokens = length_in(r, o, 1, shape.s, &arrays[1]),
        .heads = length_in(r, o, 0, shape.heads, &arrays[0]),
        .kv_heads =
            shape.kv_heads < 0 ? 1 : length_in(r, o, 1, shape.kv_heads, &arrays[1]),
        .head_dim = length_in(r, o, 0, shape.h, &arrays[0]),
        .v_head_dim = length_in(r, o, 2, shape.hv, &arrays[2]),
        .window = (double)x->window,
        .is_causal = x->is_causal,
        .activation = tensor_of(r->program, o, 0)->dtype,
        .cache = tensor_of(r->program, o, 1)->dtype,
        .compute = r->compute,
    };
    for (int i = 0; i < shape.n_batch; i++)
        op.batch *= length_in(r, o, 0, shape.batch[i], &arrays[0]);
    const ridge_op_cost cost = ridge_attention_cost(r->laid->slice->chip, &op);
    return fmax(cost.expected_s, cost.bound_s);
}

double chain_op_price(const ridge_chain_request *request, const chain_op *o,
                      const ridge_sharding *arrays)
{
    const ridge_operation *x = &request->program->ops[o->op];
    if (!request->laid)
        return 0;
    if (x->code == RIDGE_OPCODE_EINSUM)
        return einsum_s(request, o, arrays);
    if (x->code == RIDGE_OPCODE_ATTENTION)
        return attention_s(request, o, arrays);
    return stream_s(request, o, arrays,
                    x->code == RIDGE_OPCODE_NORM ? 4
                                                 : ridge_function_flops(x->function));
}
