/* Operations of layers by the names of what they make, for remat one by one. */
#include "ridge/program_remat.h"

#include <string.h>

static const char *const names[] = {
#define OP_ROW(name) name,
    RIDGE_REMAT_OP_LIST(OP_ROW)
#undef OP_ROW
};

_Static_assert(RIDGE_REMAT_OP_COUNT <= 64, "a bit each");

const char *ridge_remat_op_text(int op)
{
    return names[op];
}

const char *ridge_remat_ops_text(ridge_ctx *cx, ridge_remat_ops ops)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
        if (ops >> i & 1u)
            ridge_buf_printf(&out, "%s%s", out.n == 0 ? "" : "+", names[i]);
    }
    return ridge_buf_text(&out);
}

/* The operation of that name; -1: none. */
static int find(const char *name, size_t n)
{
    for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
        if (n > 0 && names[i][0] == name[0] && strlen(names[i]) == n &&
            strncmp(names[i], name, n) == 0)
            return i;
    }
    return -1;
}

static ridge_status fail_name(ridge_ctx *cx, const char *at, size_t n)
{
    ridge_str name = {at, n};
    const char *word = ridge_str_dup(ridge_ctx_scratch(cx), name);
    const char *hint = word == NULL ? NULL
                                    : ridge_suggestion(ridge_ctx_scratch(cx), word,
                                                       names, RIDGE_REMAT_OP_COUNT);
    return ridge_fail(cx, RIDGE_E_ARG,
                      "remat: '%.*s' is no operation of a layer: name what it makes in "
                      "the program of ridge model --program, such as up+act%s%s",
                      n < 40 ? (int)n : 40, at, hint != NULL && hint[0] ? "; " : "",
                      hint == NULL ? "" : hint);
}

ridge_status ridge_remat_ops_parse(ridge_ctx *cx, const char *text,
                                   ridge_remat_ops *out)
{
    ridge_remat_ops all = 0;
    for (const char *at = text; at != NULL;) {
        const size_t n = strcspn(at, "+,");
        const int op = find(at, n);
        if (op < 0)
            return fail_name(cx, at, n);
        all |= (ridge_remat_ops)1 << op;
        at = at[n] == '\0' ? NULL : at + n + 1;
    }
    *out = all;
    return RIDGE_OK;
}

/* "layer_3.up" makes "up". */
ridge_remat_ops ridge_operation_remat_op(const ridge_program *p, int op)
{
    const ridge_operation *o = &p->ops[op];
    if (o->n_outputs < 1 || o->is_backward || o->code == RIDGE_OPCODE_COLLECTIVE)
        return 0;
    const char *name = p->tensors[o->outputs[0]].name;
    const char *dot = strrchr(name, '.');
    const char *made = dot == NULL ? name : dot + 1;
    const int found = find(made, strlen(made));
    return found < 0 ? 0 : (ridge_remat_ops)1 << found;
}

ridge_remat_ops ridge_program_remat_ops(const ridge_program *p)
{
    ridge_remat_ops all = 0;
    for (int b = 0; b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        for (int i = 0; block->layer >= 0 && !block->is_backward && i < block->n_ops;
             i++)
            all |= ridge_operation_remat_op(p, block->first_op + i);
    }
    return all;
}
