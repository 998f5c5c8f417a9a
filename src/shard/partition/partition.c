/* A program partitioned over a mesh: block by block, operation by operation. */
#include "cutting.h"

#include <string.h>

static ridge_status check_mesh(ridge_ctx *cx, const ridge_mesh *mesh)
{
    int64_t ranks = 1;
    if (mesh->n < 0 || mesh->n > RIDGE_MESH_AXIS_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "a mesh of %d axes: at most %d", mesh->n,
                          RIDGE_MESH_AXIS_MAX);
    for (int a = 0; a < mesh->n; a++) {
        if (mesh->axes[a].size < 1 || !ridge_mul_i64(ranks, mesh->axes[a].size, &ranks))
            return ridge_fail(cx, RIDGE_E_ARG,
                              "mesh axis %s: size %lld is out of range",
                              mesh->axes[a].name, (long long)mesh->axes[a].size);
    }
    return RIDGE_OK;
}

static ridge_status check_program(ridge_ctx *cx, const ridge_program *program)
{
    for (int i = 0; i < program->n_ops; i++) {
        if (program->ops[i].code == RIDGE_OPCODE_COLLECTIVE)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "operation %s is a collective: partition the program "
                              "without collectives",
                              program->ops[i].name);
    }
    return RIDGE_OK;
}

/* ---- opening -------------------------------------------------------------------- */

static ridge_status open_results(ridge__partitioner *p)
{
    const int n = p->in->n_tensors;
    ridge_arena *scratch = ridge_ctx_scratch(p->cx);
    p->n_tensors = n;
    p->cap_tensors = 2 * n + 64;
    p->cap_ops = 3 * p->in->n_ops + 64;
    p->tensors = ridge_new(p->arena, ridge_tensor, (size_t)p->cap_tensors);
    p->ops = ridge_new(p->arena, ridge_operation, (size_t)p->cap_ops);
    p->copy_of = ridge_new(p->arena, int, (size_t)p->cap_tensors);
    p->layouts = ridge_new(scratch, ridge__layout, (size_t)p->cap_tensors);
    p->next_copy = ridge_new(scratch, int, (size_t)p->cap_tensors);
    p->copy_block = ridge_new(scratch, int, (size_t)p->cap_tensors);
    if (!p->tensors || !p->ops || !p->copy_of || !p->layouts || !p->next_copy ||
        !p->copy_block)
        return ridge_fail_nomem(p->cx);
    for (int t = 0; t < n; t++)
        p->copy_of[t] = t;
    memset(p->copy_block, -1, (size_t)p->cap_tensors * sizeof *p->copy_block);
    if (n > 0)
        memcpy(p->tensors, p->in->tensors, (size_t)n * sizeof *p->tensors);
    return RIDGE_OK;
}

static ridge_status open_partitioner(ridge__partitioner *p)
{
    const size_t n = (size_t)p->in->n_tensors, n_ops = (size_t)p->in->n_ops;
    ridge_arena *scratch = ridge_ctx_scratch(p->cx);
    p->wish = ridge_new(scratch, ridge__wish, n);
    p->home = ridge_new(scratch, ridge__layout, n);
    p->op_cut = ridge_arena_new(scratch, n_ops, sizeof *p->op_cut);
    p->op_now = ridge_new(scratch, int, n_ops);
    p->reader = ridge_new(scratch, int, n);
    p->copies = ridge_new(scratch, int, n);
    p->rows = ridge_new(scratch, ridge__rows, (size_t)p->in->n_dims);
    if (!p->wish || !p->home || !p->op_cut || !p->op_now || !p->reader || !p->copies ||
        !p->rows)
        return ridge_fail_nomem(p->cx);
    memset(p->op_cut, -1, n_ops * sizeof *p->op_cut);
    memset(p->op_now, -1, n_ops * sizeof *p->op_now);
    memset(p->reader, -1, n * sizeof *p->reader);
    return open_results(p);
}

/* What no operation makes lies as the rules say. */
static void place_inputs(ridge__partitioner *p)
{
    for (int t = 0; t < p->in->n_tensors; t++) {
        p->layouts[t] = p->wish[t].layout;
        p->home[t] = p->wish[t].layout;
    }
}

/* ---- running -------------------------------------------------------------------- */

/* Each repetition hands over what it carries as it took it. */
static void join_carry(ridge__partitioner *p, const ridge_block *block)
{
    if (block->repeat == 1 || block->carry_in < 0 || block->carry_out < 0)
        return;
    ridge__wish *wish = &p->wish[block->carry_out];
    ridge__receive(p, block->carry_in);
    wish->layout = p->layouts[block->carry_in];
    wish->has = (unsigned char)((1u << p->in->tensors[block->carry_out].n_dims) - 1u);
    wish->is_home = false;
}

static ridge_status partition_block(ridge__partitioner *p, const ridge_block *from,
                                    ridge_block *to)
{
    *to = *from;
    to->first_op = p->n_ops;
    join_carry(p, from);
    for (int i = 0; i < from->n_ops; i++) {
        ridge__op_rule rule;
        ridge__cutting cutting;
        p->about = &p->in->ops[from->first_op + i];
        ridge__op_rule_make(p->in, p->about, &rule);
        RIDGE_TRY(ridge__propagate(p, &rule, &cutting));
        RIDGE_TRY(ridge__insert(p, &rule, &cutting));
    }
    to->n_ops = p->n_ops - to->first_op;
    return RIDGE_OK;
}

static ridge_status close_partitioner(ridge__partitioner *p, ridge_block *blocks,
                                      const ridge_partition **out)
{
    ridge_program *program = ridge_new(p->arena, ridge_program, 1);
    ridge_partition *result = ridge_new(p->arena, ridge_partition, 1);
    ridge_sharding *shardings =
        ridge_new(p->arena, ridge_sharding, (size_t)p->n_tensors);
    if (!program || !result || !shardings)
        return ridge_fail_nomem(p->cx);
    for (int t = 0; t < p->n_tensors; t++)
        shardings[t] = ridge__layout_public(&p->layouts[t], p->tensors[t].n_dims);
    for (int i = 0; i < p->n_conflicts; i++)
        p->conflicts[i].op = p->op_now[p->conflicts[i].op];
    *program = *p->in;
    program->n_tensors = p->n_tensors;
    program->tensors = p->tensors;
    program->n_ops = p->n_ops;
    program->ops = p->ops;
    program->blocks = blocks;
    *result = (ridge_partition){.program = program,
                                .mesh = p->mesh,
                                .shardings = shardings,
                                .copy_of = p->copy_of,
                                .n_conflicts = p->n_conflicts,
                                .conflicts = p->conflicts};
    *out = result;
    return RIDGE_OK;
}

static ridge_status partition(ridge__partitioner *p, const ridge_rule *rules,
                              int n_rules, const ridge_partition **out)
{
    ridge_block *blocks = ridge_new(p->arena, ridge_block, (size_t)p->in->n_blocks);
    if (!blocks)
        return ridge_fail_nomem(p->cx);
    RIDGE_TRY(open_partitioner(p));
    RIDGE_TRY(ridge__rules_apply(p, rules, n_rules));
    place_inputs(p);
    for (p->block = 0; p->block < p->in->n_blocks; p->block++)
        RIDGE_TRY(partition_block(p, &p->in->blocks[p->block], &blocks[p->block]));
    return close_partitioner(p, blocks, out);
}

ridge_status ridge_partition_build(ridge_ctx *cx, const ridge_program *program,
                                   const ridge_mesh *mesh, const ridge_rule *rules,
                                   int n_rules, ridge_reshard_cost_fn *cost,
                                   void *payload, const ridge_partition **out)
{
    ridge__partitioner p = {.cx = cx,
                            .arena = ridge_ctx_arena(cx),
                            .in = program,
                            .mesh = *mesh,
                            .cost = cost,
                            .payload = payload};
    RIDGE_TRY(check_mesh(cx, mesh));
    RIDGE_TRY(check_program(cx, program));
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    const ridge_status st = partition(&p, rules, n_rules, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}

/* ---- asking --------------------------------------------------------------------- */

int64_t ridge_partition_local_dim(const ridge_partition *p, int tensor, int position)
{
    const int dim = p->program->tensors[tensor].dims[position];
    return ridge_dim_local(&p->mesh, &p->shardings[tensor].dims[position],
                           p->program->dims[dim].size);
}

double ridge_partition_local_elements(const ridge_partition *p, int tensor)
{
    double elements = 1.0;
    for (int i = 0; i < p->program->tensors[tensor].n_dims; i++)
        elements *= (double)ridge_partition_local_dim(p, tensor, i);
    return elements;
}
