/*
 * Where values are last used: one walk backwards through the lists of a microbatch, and
 * one through those of a step. A value that is made twice (remat) has two lives.
 */
#include "unroll_work.h"

typedef struct walk {
    unroll_work *w;
    bool *is_live; /* [n_values]: needed after where the walk stands */
    bool *is_read; /* [n_values]: by any instruction */
} walk;

static void note_free(walk *k, ridge__list *list, ridge__instruction *at, int value,
                      int *n)
{
    if (k->w->u.kind[value] != RIDGE__VALUE_FLIGHT || k->is_live[value])
        return;
    for (int i = at->first_free; i < *n; i++) {
        if (list->frees[i] == value)
            return;
    }
    list->frees[(*n)++] = value;
}

static bool makes_side(const ridge_program *program, const ridge__instruction *at)
{
    const ridge_operation *op = &program->ops[at->op];
    return !op->is_backward &&
           (op->code == RIDGE_OPCODE_ATTENTION || op->code == RIDGE_OPCODE_LOSS ||
            op->code == RIDGE_OPCODE_DISPATCH || op->code == RIDGE_OPCODE_ROUTE);
}

/* Results that nobody reads stay for the caller: the loss, the logits, the gradient of
 * an embedding that another stage updates. */
static bool is_result(const walk *k, ridge__list_kind kind, int value)
{
    return (kind == RIDGE__LIST_FORWARD || kind == RIDGE__LIST_REDUCE) &&
           !k->is_read[value];
}

static void visit(walk *k, ridge__list_kind kind, int index, int *n)
{
    ridge__list *list = &k->w->u.lists[kind];
    ridge__instruction *at = &list->at[index];
    const ridge_program *program = k->w->u.partition->program;
    const ridge_operation *op = &program->ops[at->op];
    at->first_free = *n;
    for (int i = 0; i < op->n_outputs; i++) {
        if (!is_result(k, kind, at->out[i]))
            note_free(k, list, at, at->out[i], n);
    }
    for (int i = 0; i < op->n_inputs; i++)
        note_free(k, list, at, at->in[i], n);
    if (at->side >= 0)
        note_free(k, list, at, at->side, n);
    at->n_free = *n - at->first_free;
    for (int i = 0; i < op->n_outputs; i++)
        k->is_live[at->out[i]] = op->is_added;
    if (at->side >= 0)
        k->is_live[at->side] = !makes_side(program, at);
    for (int i = 0; i < op->n_inputs; i++)
        k->is_live[at->in[i]] = true;
}

static void note_reads(walk *k)
{
    for (int l = 0; l < RIDGE__LIST_COUNT; l++) {
        const ridge__list *list = &k->w->u.lists[l];
        for (int i = 0; i < list->n; i++) {
            const ridge__instruction *at = &list->at[i];
            const int n = k->w->u.partition->program->ops[at->op].n_inputs;
            for (int j = 0; j < n; j++)
                k->is_read[at->in[j]] = true;
        }
    }
}

ridge_status ridge__unroll_frees(unroll_work *w)
{
    const size_t n = (size_t)w->u.n_values + 1;
    walk k = {.w = w,
              .is_live = ridge_new(ridge_ctx_scratch(w->cx), bool, n),
              .is_read = ridge_new(ridge_ctx_scratch(w->cx), bool, n)};
    if (!k.is_live || !k.is_read)
        return ridge_fail_nomem(w->cx);
    note_reads(&k);
    for (int l = RIDGE__LIST_COUNT - 1; l >= 0; l--) {
        int n_frees = 0;
        for (int i = w->u.lists[l].n - 1; i >= 0; i--)
            visit(&k, (ridge__list_kind)l, i, &n_frees);
    }
    return RIDGE_OK;
}
