/* A program with one dim of another size. Rows of experts follow the tokens. */
#include "builder.h"

#include <string.h>

/* Rows that a dispatch needs of each expert: tokens k / E. */
static void size_rows(ridge__builder *b, const ridge_operation *op)
{
    const ridge_tensor *gates = &b->p.tensors[op->inputs[1]];
    const ridge_tensor *rows = &b->p.tensors[op->outputs[0]];
    ridge_program_dim *c = &b->p.dims[rows->dims[1]];
    int64_t tokens = op->experts_per_token;
    if (!(c->used > 0)) /* a capacity that someone set stays */
        return;
    for (int i = 0; i + 1 < gates->n_dims; i++) {
        if (!ridge_mul_i64(tokens, b->p.dims[gates->dims[i]].size, &tokens))
            tokens = INT64_MAX;
    }
    const int64_t experts = b->p.dims[gates->dims[gates->n_dims - 1]].size;
    c->size = ridge_ceil_div(tokens, experts);
    c->used = (double)tokens / (double)experts;
}

static ridge_status check_size(ridge_ctx *cx, const ridge_program *program,
                               const char *dim, int64_t size)
{
    if (size < 1) {
        return ridge_fail(cx, RIDGE_E_ARG, "dim %.40s of size %lld: at least 1", dim,
                          (long long)size);
    }
    if (ridge_program_dim_find(program, dim) >= 0)
        return RIDGE_OK;
    const char *names[RIDGE_PROGRAM_DIM_MAX];
    for (int i = 0; i < program->n_dims; i++)
        names[i] = program->dims[i].name;
    return ridge_fail(
        cx, RIDGE_E_ARG, "the program has no dim '%.40s': %s", dim,
        ridge_suggestion(ridge_ctx_arena(cx), dim, names, (size_t)program->n_dims));
}

ridge_status ridge_program_resize(ridge_ctx *cx, const ridge_program *program,
                                  const char *dim, int64_t size,
                                  const ridge_program **out)
{
    ridge__builder b, checked;
    RIDGE_TRY(check_size(cx, program, dim, size));
    ridge__builder_copy(&b, cx, program);
    if (ridge__builder_is_bad(&b))
        return b.st;
    ridge_program_dim *d = &b.p.dims[ridge_program_dim_find(&b.p, dim)];
    d->size = size;
    d->used = 0;
    for (int i = 0; i < b.p.n_ops; i++) {
        const ridge_operation *op = &b.p.ops[i];
        if (op->code == RIDGE_OPCODE_DISPATCH && !op->is_backward)
            size_rows(&b, op);
    }
    /* Again, with the new sizes: they must fit each other and be countable. */
    ridge__builder_copy(&checked, cx, &b.p);
    return ridge__builder_finish(&checked, out);
}
