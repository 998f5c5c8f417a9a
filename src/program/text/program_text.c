/* A program written in its notation, which program_parse.c describes and reads back. */
#include "builder.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
    const ridge_program *p;
    ridge_buf *out;
    bool *is_made;    /* [n_tensors] by an operation, where it is written */
    bool *is_written; /* [n_tensors] already */
    int *order;       /* [n_tensors] by block */
    int *starts;      /* [n_blocks + 1] of blocks in order */
    int next;         /* position in order */
} writer;

/* ---- numbers --------------------------------------------------------------------- */

/* The shortest decimal that reads back as the same number. */
static void write_number(ridge_buf *out, double v)
{
    enum { DIGITS_LEAST = 6, DIGITS_MOST = 17 };
    char text[40];
    for (int digits = DIGITS_LEAST; digits <= DIGITS_MOST; digits++) {
        double back;
        const int n = snprintf(text, sizeof text, "%.*g", digits, v);
        if (ridge_parse_double((ridge_str){text, (size_t)n}, &back) && !(back < v) &&
            !(back > v))
            break;
    }
    ridge_buf_puts(out, text);
}

static void write_real(ridge_buf *out, const char *key, double v)
{
    if (v < 0 || v > 0) {
        ridge_buf_printf(out, " %s=", key);
        write_number(out, v);
    }
}

static void write_count(ridge_buf *out, const char *key, int64_t v)
{
    if (v != 0)
        ridge_buf_printf(out, " %s=%lld", key, (long long)v);
}

static void write_flag(ridge_buf *out, const char *word, bool is_set)
{
    if (is_set)
        ridge_buf_printf(out, " %s", word);
}

/* ---- tensors --------------------------------------------------------------------- */

static void write_dims(const writer *w, const ridge_tensor *t)
{
    ridge_buf_puts(w->out, "[");
    for (int i = 0; i < t->n_dims; i++) {
        ridge_buf_printf(w->out, "%s%s", i > 0 ? "," : "", w->p->dims[t->dims[i]].name);
    }
    ridge_buf_puts(w->out, "]");
}

static void write_tensor(writer *w, int tensor, bool has_role)
{
    const ridge_tensor *t = &w->p->tensors[tensor];
    const ridge_role usual =
        t->gradient_of >= 0 ? RIDGE_ROLE_GRADIENT : RIDGE_ROLE_ACTIVATION;
    if (has_role || t->role != usual)
        ridge_buf_printf(w->out, "%s ", ridge_role_text(t->role));
    ridge_buf_puts(w->out, t->name);
    write_dims(w, t);
    ridge_buf_printf(w->out, " %s", ridge_dtype_text(t->dtype));
    if (t->gradient_of >= 0)
        ridge_buf_printf(w->out, " of %s", w->p->tensors[t->gradient_of].name);
    w->is_written[tensor] = true;
}

static void write_declaration(writer *w, int tensor)
{
    ridge_buf_puts(w->out, "  ");
    write_tensor(w, tensor, true);
    ridge_buf_puts(w->out, "\n");
}

/* ---- operations ------------------------------------------------------------------ */

static void write_name(const writer *w, const ridge_operation *op)
{
    const ridge_tensor *first =
        op->n_outputs > 0 ? &w->p->tensors[op->outputs[0]] : NULL;
    if (first == NULL || strcmp(ridge_tensor_base(first), op->name) != 0)
        ridge_buf_printf(w->out, "%s: ", op->name);
}

static void write_attention(ridge_buf *out, const ridge_operation *op)
{
    write_flag(out, "causal", op->is_causal);
    write_count(out, "window", op->window);
    write_flag(out, "chunked", op->is_window_chunked);
    write_flag(out, "rope", op->extras & RIDGE_ATTENTION_ROPE);
    write_flag(out, "sinks", op->extras & RIDGE_ATTENTION_SINKS);
    write_flag(out, "far", op->extras & RIDGE_ATTENTION_FAR);
    write_flag(out, "chosen", op->extras & RIDGE_ATTENTION_CHOSEN);
    write_real(out, "context", op->context_tokens);
}

static void write_dim(const writer *w, const char *key, int dim)
{
    if (dim >= 0)
        ridge_buf_printf(w->out, " %s=%s", key, w->p->dims[dim].name);
}

static void write_collective(const writer *w, const ridge_operation *op)
{
    ridge_buf_printf(w->out, " collective=%d", op->collective);
    for (int i = 0; i < op->n_axes; i++)
        ridge_buf_printf(w->out, "%s%d", i > 0 ? "," : " axes=", op->axes[i]);
    write_dim(w, "from", op->dim_from);
    write_dim(w, "to", op->dim_to);
}

static int block_of(const ridge_program *p, int op)
{
    for (int i = 0; i < p->n_blocks; i++) {
        if (op < p->blocks[i].first_op + p->blocks[i].n_ops)
            return i;
    }
    return -1;
}

static void write_attributes(const writer *w, const ridge_operation *op,
                             const ridge_block *block)
{
    const size_t before = w->out->n;
    ridge_buf_puts(w->out, " ");
    if (op->code == RIDGE_OPCODE_SCAN)
        ridge_buf_printf(w->out, " kind=%s", ridge_scan_text(op->scan));
    if (op->norm != RIDGE_NORM_RMS)
        ridge_buf_printf(w->out, " kind=%s", ridge_norm_kind_text(op->norm));
    write_attention(w->out, op);
    write_real(w->out, "scale", op->scale);
    write_real(w->out, "flops", op->scan_flops_per_token);
    write_count(w->out, "k", op->experts_per_token);
    write_count(w->out, "groups", op->norm_groups);
    write_dim(w, "over", op->position_dim);
    if (op->rule != RIDGE_UPDATE_RULE_MOMENTS)
        ridge_buf_printf(w->out, " rule=%s", ridge_update_rule_text(op->rule));
    if (op->code == RIDGE_OPCODE_COLLECTIVE || op->code == RIDGE_OPCODE_SEND)
        write_collective(w, op);
    if (op->part != RIDGE_PART_NORM)
        ridge_buf_printf(w->out, " part=%s", ridge__part_text(op->part));
    write_flag(w->out, "head", op->is_head);
    if (op->is_backward != block->is_backward)
        write_flag(w->out, op->is_backward ? "backward" : "forward", true);
    const int of = op->forward_of >= 0 ? block_of(w->p, op->forward_of) : -1;
    if (of >= 0) {
        ridge_buf_printf(w->out, " of=%s.%s", w->p->blocks[of].name,
                         w->p->ops[op->forward_of].name);
    }
    if (w->out->n == before + 1 && w->out->p != NULL)
        w->out->p[--w->out->n] = '\0'; /* nothing followed the blank */
}

static void write_operation(writer *w, const ridge_operation *op,
                            const ridge_block *block)
{
    ridge_buf_puts(w->out, "  ");
    write_name(w, op);
    for (int i = 0; i < op->n_outputs; i++) {
        ridge_buf_puts(w->out, i > 0 ? ", " : "");
        if (w->is_written[op->outputs[i]]) {
            ridge_buf_puts(w->out, w->p->tensors[op->outputs[i]].name);
        } else {
            write_tensor(w, op->outputs[i], false);
        }
    }
    ridge_buf_printf(w->out, " %s %s", op->is_added ? "+=" : "=",
                     op->code == RIDGE_OPCODE_ELEMENTWISE
                         ? ridge_function_text(op->function)
                         : ridge_opcode_text(op->code));
    for (int i = 0; i < op->n_inputs; i++) {
        ridge_buf_printf(w->out, "%s%s", i > 0 ? ", " : " ",
                         w->p->tensors[op->inputs[i]].name);
    }
    write_attributes(w, op, block);
    ridge_buf_puts(w->out, "\n");
}

/* ---- blocks ---------------------------------------------------------------------- */

/* Whether a tensor of this block is still to be declared. */
static bool is_undeclared(const writer *w, int block, int tensor)
{
    return w->p->tensors[tensor].block == block && !w->is_made[tensor] &&
           !w->is_written[tensor];
}

/* Declarations of a block stand in the order of the tensors, before the first operation
 * that makes a later one or needs them. */
static void declare_before(writer *w, int block, const ridge_operation *op)
{
    int last = -1;
    for (int i = 0; i < op->n_outputs; i++)
        last = op->outputs[i] > last ? op->outputs[i] : last;
    while (w->next < w->p->n_tensors && w->order[w->next] < last &&
           w->p->tensors[w->order[w->next]].block == block) {
        if (is_undeclared(w, block, w->order[w->next]))
            write_declaration(w, w->order[w->next]);
        w->next++;
    }
    for (int i = 0; i < op->n_inputs; i++) {
        if (is_undeclared(w, block, op->inputs[i]))
            write_declaration(w, op->inputs[i]);
    }
    for (int i = 0; i < op->n_outputs; i++) {
        if (is_undeclared(w, block, op->outputs[i]))
            write_declaration(w, op->outputs[i]);
    }
}

static void declare_rest(writer *w, int block)
{
    while (w->next < w->p->n_tensors &&
           w->p->tensors[w->order[w->next]].block == block) {
        if (is_undeclared(w, block, w->order[w->next]))
            write_declaration(w, w->order[w->next]);
        w->next++;
    }
}

/* Tensors by block, and in a block in their order: a counting sort. */
static void sort_by_block(writer *w)
{
    int *starts = w->starts;
    for (int i = 0; i < w->p->n_tensors; i++)
        starts[w->p->tensors[i].block + 1]++;
    for (int b = 0; b < w->p->n_blocks; b++)
        starts[b + 1] += starts[b];
    for (int i = 0; i < w->p->n_tensors; i++)
        w->order[starts[w->p->tensors[i].block]++] = i;
}

static void write_block(writer *w, int index)
{
    const ridge_block *block = &w->p->blocks[index];
    ridge_buf_printf(w->out, "\nblock %s", block->name);
    if (block->repeat != 1)
        ridge_buf_printf(w->out, " x%lld", (long long)block->repeat);
    if (block->layer >= 0)
        ridge_buf_printf(w->out, " layer=%d", block->layer);
    write_flag(w->out, "backward", block->is_backward);
    if (block->forward_of >= 0)
        ridge_buf_printf(w->out, " of=%s", w->p->blocks[block->forward_of].name);
    if (block->carry_in >= 0 && block->carry_out >= 0) {
        ridge_buf_printf(w->out, " carry %s -> %s", w->p->tensors[block->carry_in].name,
                         w->p->tensors[block->carry_out].name);
    }
    ridge_buf_puts(w->out, "\n");
    for (int i = 0; i < block->n_ops; i++) {
        const ridge_operation *op = &w->p->ops[block->first_op + i];
        declare_before(w, index, op);
        write_operation(w, op, block);
    }
    declare_rest(w, index);
}

/* A tensor is made where an operation of its own block is its first writer, and its
 * role needs no declaration. */
static void mark_outputs(writer *w, const ridge_operation *op, int block)
{
    for (int i = 0; i < op->n_outputs && !op->is_added; i++) {
        const ridge_tensor *t = &w->p->tensors[op->outputs[i]];
        const bool is_value =
            t->role == RIDGE_ROLE_ACTIVATION || t->role == RIDGE_ROLE_GRADIENT;
        if (is_value && t->block == block)
            w->is_made[op->outputs[i]] = true;
    }
}

static void mark_made(writer *w)
{
    for (int b = 0; b < w->p->n_blocks; b++) {
        const ridge_block *block = &w->p->blocks[b];
        for (int i = 0; i < block->n_ops; i++)
            mark_outputs(w, &w->p->ops[block->first_op + i], b);
    }
}

void ridge_program_write(const ridge_program *program, ridge_buf *out)
{
    const size_t n = (size_t)program->n_tensors + 1;
    writer w = {.p = program,
                .out = out,
                .is_made = ridge_new(out->arena, bool, n),
                .is_written = ridge_new(out->arena, bool, n),
                .order = ridge_new(out->arena, int, n),
                .starts = ridge_new(out->arena, int, (size_t)program->n_blocks + 2)};
    if (w.is_made == NULL || w.is_written == NULL || w.order == NULL ||
        w.starts == NULL) {
        out->is_short = true;
        return;
    }
    mark_made(&w);
    sort_by_block(&w);
    ridge_buf_printf(out, "program %s %s\ndims", program->name,
                     ridge_phase_text(program->phase));
    for (int i = 0; i < program->n_dims; i++) {
        const ridge_program_dim *d = &program->dims[i];
        ridge_buf_printf(out, " %s=%lld", d->name, (long long)d->size);
        if (d->used > 0) {
            ridge_buf_puts(out, "~");
            write_number(out, d->used);
        }
    }
    ridge_buf_puts(out, "\n");
    for (int i = 0; i < program->n_blocks; i++)
        write_block(&w, i);
}
