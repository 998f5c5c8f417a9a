/* Which tensors of a stage's program are fed, received, handed on and read out. */
#include "runner.h"

#include <string.h>

static int find_input(const ridge_program *program, const char *base)
{
    for (int t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].role == RIDGE_ROLE_INPUT &&
            strcmp(ridge_tensor_base(&program->tensors[t]), base) == 0)
            return t;
    }
    return -1;
}

static bool is_read(const ridge_program *program, int tensor)
{
    for (int i = 0; i < program->n_ops; i++) {
        for (int k = 0; k < program->ops[i].n_inputs; k++) {
            if (program->ops[i].inputs[k] == tensor)
                return true;
        }
    }
    return false;
}

static bool is_of_weight(const ridge_program *program, const ridge_tensor *t)
{
    return t->gradient_of >= 0 &&
           program->tensors[t->gradient_of].role == RIDGE_ROLE_WEIGHT;
}

/* The whole gradient of a tensor: one that is made here and not read, or one that is
 * declared. */
static int find_tied(const ridge__machine *m, int weight, bool is_made)
{
    for (int t = 0; t < m->program->n_tensors && weight >= 0; t++) {
        const bool is_it = m->program->tensors[t].role == RIDGE_ROLE_GRADIENT &&
                           m->program->tensors[t].gradient_of == weight &&
                           m->partition->copy_of[t] == t &&
                           (ridge__tensor_maker(m->program, t) >= 0) == is_made &&
                           is_read(m->program, t) != is_made;
        if (is_it)
            return t;
    }
    return -1;
}

/* What another stage sends: declared, of the role, and read. */
static int find_stream(const ridge_program *program, const ridge__chunk *chunk,
                       ridge_role role)
{
    for (int t = 0; t < program->n_tensors; t++) {
        const ridge_tensor *x = &program->tensors[t];
        if (x->role == role && t != chunk->tokens && t != chunk->labels &&
            t != chunk->positions && ridge__tensor_maker(program, t) < 0 &&
            is_read(program, t) && !is_of_weight(program, x))
            return t;
    }
    return -1;
}

/* A result of the forward pass that an operation makes and nobody else reads. */
static int find_result(const ridge_program *program, bool is_loss)
{
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        const bool is_forward =
            !program->blocks[ridge__op_block_of(program, i)].is_backward;
        if (op->n_outputs < 1 || !is_forward || is_read(program, op->outputs[0]))
            continue;
        const ridge_tensor *t = &program->tensors[op->outputs[0]];
        if (t->role == RIDGE_ROLE_ACTIVATION && op->code != RIDGE_OPCODE_SEND &&
            (strcmp(ridge_tensor_base(t), "loss") == 0) == is_loss)
            return op->outputs[0];
    }
    return -1;
}

void ridge__chunk_find_tensors(ridge__chunk *chunk)
{
    const ridge_program *program = chunk->m->program;
    chunk->tokens = find_input(program, "tokens");
    chunk->labels = find_input(program, "labels");
    chunk->positions = find_input(program, "positions");
    chunk->stream = find_stream(program, chunk, RIDGE_ROLE_INPUT);
    chunk->stream_gradient = find_stream(program, chunk, RIDGE_ROLE_GRADIENT);
    chunk->loss = find_result(program, true);
    chunk->logits = find_result(program, false);
    chunk->tied = ridge_program_tensor_find(program, "embedding");
    chunk->tied_from = find_tied(chunk->m, chunk->tied, false);
    chunk->tied_to = find_tied(chunk->m, chunk->tied, true);
}
