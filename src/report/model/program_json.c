/*
 * A program as JSON: the keys of `ridge model --program --json`. Tensors and dims are
 * named, not numbered.
 */
#include "ridge/report.h"

static void push_tensors(ridge_json *array, const ridge_program *p, const int *tensors,
                         int n)
{
    for (int i = 0; i < n; i++)
        ridge_json_push_text(array, p->tensors[tensors[i]].name);
}

static void set_tensor_name(ridge_json *object, const char *key, const ridge_program *p,
                            int tensor)
{
    if (tensor >= 0)
        ridge_json_set_text(object, key, p->tensors[tensor].name);
}

static void set_counts(ridge_json *object, ridge_op_count c)
{
    ridge_json_set_double(object, "matmul_flops", c.matmul_flops);
    ridge_json_set_double(object, "vector_flops", c.vector_flops);
    ridge_json_set_double(object, "bytes", c.bytes);
}

static void push_dims(ridge_ctx *cx, const ridge_program *p, ridge_json *object)
{
    ridge_json *array = ridge_json_set_array(cx, object, "dims");
    for (int i = 0; i < p->n_dims; i++) {
        ridge_json *dim = ridge_json_push_object(cx, array);
        ridge_json_set_text(dim, "name", p->dims[i].name);
        ridge_json_set_i64(dim, "size", p->dims[i].size);
        if (p->dims[i].used > 0)
            ridge_json_set_double(dim, "used", p->dims[i].used);
    }
}

static void push_tensor(ridge_ctx *cx, const ridge_program *p, const ridge_tensor *t,
                        ridge_json *array)
{
    ridge_json *object = ridge_json_push_object(cx, array);
    ridge_json_set_text(object, "name", t->name);
    ridge_json_set_text(object, "role", ridge_role_text(t->role));
    ridge_json_set_text(object, "dtype", ridge_dtype_text(t->dtype));
    ridge_json *dims = ridge_json_set_array(cx, object, "dims");
    for (int i = 0; i < t->n_dims; i++)
        ridge_json_push_text(dims, p->dims[t->dims[i]].name);
    ridge_json_set_text(object, "block", p->blocks[t->block].name);
    set_tensor_name(object, "gradient_of", p, t->gradient_of);
}

/* An operation; one repetition's counts. Its text has what only few operations have. */
static void push_operation(ridge_ctx *cx, const ridge_program *p,
                           const ridge_operation *op, ridge_json *array)
{
    ridge_json *object = ridge_json_push_object(cx, array);
    ridge_json_set_text(object, "name", op->name);
    ridge_json_set_text(object, "code",
                        op->code == RIDGE_OPCODE_ELEMENTWISE
                            ? ridge_function_text(op->function)
                            : ridge_opcode_text(op->code));
    push_tensors(ridge_json_set_array(cx, object, "inputs"), p, op->inputs,
                 op->n_inputs);
    push_tensors(ridge_json_set_array(cx, object, "outputs"), p, op->outputs,
                 op->n_outputs);
    if (op->is_head)
        ridge_json_set_bool(object, "is_head", true);
    if (op->is_added)
        ridge_json_set_bool(object, "is_added", true);
    set_counts(object, ridge_operation_count(p, op));
}

static void push_block(ridge_ctx *cx, const ridge_program *p, const ridge_block *block,
                       ridge_json *array)
{
    ridge_json *object = ridge_json_push_object(cx, array);
    ridge_json_set_text(object, "name", block->name);
    ridge_json_set_i64(object, "repeat", block->repeat);
    if (block->layer >= 0)
        ridge_json_set_i64(object, "layer", block->layer);
    ridge_json_set_bool(object, "is_backward", block->is_backward);
    if (block->forward_of >= 0)
        ridge_json_set_text(object, "forward_of", p->blocks[block->forward_of].name);
    set_tensor_name(object, "carry_in", p, block->carry_in);
    set_tensor_name(object, "carry_out", p, block->carry_out);
    ridge_json *operations = ridge_json_set_array(cx, object, "operations");
    for (int i = 0; i < block->n_ops; i++)
        push_operation(cx, p, &p->ops[block->first_op + i], operations);
}

void ridge_program_write_json(ridge_ctx *cx, const ridge_program *program,
                              ridge_json *object)
{
    ridge_json_set_text(object, "name", program->name);
    ridge_json_set_text(object, "phase", ridge_phase_text(program->phase));
    set_counts(object, ridge_program_count(program));
    ridge_json_set_double(object, "weights", ridge_program_weights(program));
    push_dims(cx, program, object);
    ridge_json *tensors = ridge_json_set_array(cx, object, "tensors");
    for (int i = 0; i < program->n_tensors; i++)
        push_tensor(cx, program, &program->tensors[i], tensors);
    ridge_json *blocks = ridge_json_set_array(cx, object, "blocks");
    for (int i = 0; i < program->n_blocks; i++)
        push_block(cx, program, &program->blocks[i], blocks);
}
