/* Norms over all heads of queries and keys where tp cuts the heads: the algebra gathers
 * them, engines sum squares instead. */
#include "serving_desk.h"

bool serving_norm_is_gather(const ridge_program *program, const ridge_operation *op)
{
    if ((ridge_collective)op->collective != RIDGE_COLLECTIVE_ALL_GATHER)
        return false;
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *use = &program->ops[i];
        for (int j = 0; j < use->n_inputs; j++) {
            if (use->inputs[j] == op->outputs[0])
                return use->code == RIDGE_OPCODE_NORM;
        }
    }
    return false;
}

/* A sum for queries and one for keys, in 32 bits. */
enum { SUMS = 2, SUM_BYTES = 4 };

void serving_norm_set(serving_kernel *k)
{
    k->collective = RIDGE_COLLECTIVE_ALL_REDUCE;
    k->bytes = 0;
    k->bytes_each = SUMS * SUM_BYTES;
}
