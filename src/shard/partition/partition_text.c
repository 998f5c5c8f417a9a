/*
 * A partitioned program as text: the mesh, how weights and inputs lie, each operation
 * with its operands in the book's notation, and the conflicts.
 */
#include "axes_text.h"

static void write_partial(const ridge_mesh *mesh, unsigned partial, ridge_buf *out)
{
    int axes[RIDGE_MESH_AXIS_MAX], n = 0;
    for (int a = 0; a < mesh->n; a++) {
        if ((partial >> a) & 1u)
            axes[n++] = a;
    }
    if (n == 0)
        return;
    ridge_buf_puts(out, "{U@");
    ridge__axes_write(mesh, axes, n, out);
    ridge_buf_puts(out, "}");
}

static void write_tensor(const ridge_partition *p, int tensor, ridge_buf *out)
{
    const ridge_tensor *t = &p->program->tensors[tensor];
    const ridge_sharding *s = &p->shardings[tensor];
    ridge_buf_puts(out, t->name);
    ridge_buf_puts(out, "[");
    for (int i = 0; i < t->n_dims; i++) {
        ridge_buf_printf(out, "%s%s", i > 0 ? "," : "",
                         p->program->dims[t->dims[i]].name);
        if (s->dims[i].n > 0) {
            ridge_buf_puts(out, "@");
            ridge__axes_write(&p->mesh, s->dims[i].axes, s->dims[i].n, out);
        }
    }
    ridge_buf_puts(out, "]");
    write_partial(&p->mesh, s->partial, out);
}

static void write_list(const ridge_partition *p, const int *tensors, int n,
                       ridge_buf *out)
{
    for (int i = 0; i < n; i++) {
        ridge_buf_puts(out, i > 0 ? ", " : "");
        write_tensor(p, tensors[i], out);
    }
}

static void write_operation(const ridge_partition *p, const ridge_operation *op,
                            ridge_buf *out)
{
    ridge_buf_puts(out, "  ");
    write_list(p, op->outputs, op->n_outputs, out);
    ridge_buf_puts(out, " = ");
    if (op->code == RIDGE_OPCODE_COLLECTIVE) {
        ridge_buf_printf(out, "%s@",
                         ridge_step_kind_text((ridge_step_kind)op->collective));
        ridge__axes_write(&p->mesh, op->axes, op->n_axes, out);
    } else if (op->code == RIDGE_OPCODE_ELEMENTWISE) {
        ridge_buf_puts(out, ridge_function_text(op->function));
    } else {
        ridge_buf_puts(out, ridge_opcode_text(op->code));
    }
    ridge_buf_puts(out, op->n_inputs > 0 ? " " : "");
    write_list(p, op->inputs, op->n_inputs, out);
    ridge_buf_puts(out, "\n");
}

static void write_mesh(const ridge_mesh *mesh, ridge_buf *out)
{
    ridge_buf_puts(out, "mesh");
    for (int a = 0; a < mesh->n; a++)
        ridge_buf_printf(out, "%s%s=%lld", a > 0 ? "," : " ", mesh->axes[a].name,
                         (long long)mesh->axes[a].size);
    ridge_buf_puts(out, "\n");
}

/* Weights, states, caches and inputs lie as they were put. */
static void write_placed(const ridge_partition *p, int block, ridge_buf *out)
{
    for (int t = 0; t < p->program->n_tensors; t++) {
        const ridge_tensor *tensor = &p->program->tensors[t];
        if (tensor->block != block || p->copy_of[t] != t ||
            tensor->role == RIDGE_ROLE_ACTIVATION ||
            tensor->role == RIDGE_ROLE_GRADIENT)
            continue;
        ridge_buf_printf(out, "  %s ", ridge_role_text(tensor->role));
        write_tensor(p, t, out);
        ridge_buf_puts(out, "\n");
    }
}

void ridge_partition_write(const ridge_partition *p, ridge_buf *out)
{
    const ridge_program *program = p->program;
    ridge_buf_printf(out, "program %s %s\n", program->name,
                     ridge_phase_text(program->phase));
    write_mesh(&p->mesh, out);
    for (int b = 0; b < program->n_blocks; b++) {
        const ridge_block *block = &program->blocks[b];
        ridge_buf_printf(out, "block %s", block->name);
        if (block->repeat != 1)
            ridge_buf_printf(out, " x%lld", (long long)block->repeat);
        ridge_buf_puts(out, "\n");
        write_placed(p, b, out);
        for (int i = 0; i < block->n_ops; i++)
            write_operation(p, &program->ops[block->first_op + i], out);
    }
    for (int i = 0; i < p->n_conflicts; i++)
        ridge_buf_printf(out, "conflict %s: %s\n",
                         program->ops[p->conflicts[i].op].name, p->conflicts[i].text);
}
