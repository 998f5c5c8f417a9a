/*
 * Names of a rank's weights over all layouts: the model's layer of each value, which
 * part of a tensor the rank has, and which rank writes it.
 */
#include "runner.h"

#include <string.h>

/* ---- names -------------------------------------------------------------------------
 */

static int block_by_name(const ridge_program *program, const char *name)
{
    for (int b = 0; b < program->n_blocks; b++) {
        if (strcmp(program->blocks[b].name, name) == 0)
            return b;
    }
    return -1;
}

/* Layers of the model in front of a block of the whole program. */
int64_t ridge__layers_before(const ridge_program *full, int block)
{
    int64_t n = 0;
    for (int b = 0; b < block; b++) {
        if (full->blocks[b].layer >= 0 && full->blocks[b].forward_of < 0)
            n += full->blocks[b].repeat;
    }
    return n;
}

/* Where a stage's piece of a block begins in it. */
static int64_t piece_first(const ridge__chunk *chunk, int block)
{
    for (int i = 0; i < chunk->n_rows; i++) {
        if (chunk->rows[i].block == block && chunk->rows[i].stage == chunk->stage)
            return chunk->rows[i].first;
    }
    return 0;
}

int64_t ridge__block_layer(const ridge__chunk *chunk, int block)
{
    const ridge_program *program = chunk->m->program;
    const ridge_block *b = &program->blocks[block];
    if (b->forward_of >= 0)
        b = &program->blocks[b->forward_of];
    if (b->layer < 0)
        return -1;
    const int whole = block_by_name(chunk->full, b->name);
    return ridge__layers_before(chunk->full, whole) + piece_first(chunk, whole);
}

int64_t ridge__value_layer(const ridge__chunk *chunk, int tensor, int64_t repetition)
{
    const int64_t first =
        ridge__block_layer(chunk, chunk->m->program->tensors[tensor].block);
    return first < 0 ? -1 : first + repetition;
}

bool ridge__runner_is_tied(const ridge__runner *r)
{
    const ridge_program *full = r->chunks[0].full;
    for (int i = 0; i < full->n_ops; i++) {
        const ridge_operation *op = &full->ops[i];
        for (int k = 0; op->is_head && !op->is_backward && k < op->n_inputs; k++) {
            if (strcmp(ridge_tensor_base(&full->tensors[op->inputs[k]]), "embedding") ==
                0)
                return true;
        }
    }
    return false;
}

bool ridge__tensor_is_tied(const ridge__runner *r, const ridge__chunk *chunk,
                           int tensor)
{
    const ridge_program *program = chunk->m->program;
    const char *base = ridge_tensor_base(&program->tensors[tensor]);
    const size_t n = strlen(base), tail = strlen("embedding");
    const bool is_it = strcmp(base, "embedding") == 0 ||
                       (program->tensors[tensor].role == RIDGE_ROLE_STATE && n > tail &&
                        strcmp(base + n - tail - 1, "_embedding") == 0);
    return is_it && chunk->stage > 0 && ridge__runner_is_tied(r);
}

/* ---- parts -------------------------------------------------------------------------
 */

static unsigned cut_axes(const ridge__machine *m, int tensor)
{
    return ridge_sharding_axes(&m->partition->shardings[tensor]);
}

int64_t ridge__tensor_replicas(const ridge__machine *m, int tensor)
{
    const ridge_mesh *mesh = &m->partition->mesh;
    const unsigned cut = cut_axes(m, tensor);
    int64_t n = 1;
    for (int a = 0; a < mesh->n; a++) {
        if (!((cut >> a) & 1U))
            n *= mesh->axes[a].size;
    }
    return n;
}

bool ridge__tensor_is_mine(const ridge__machine *m, int tensor)
{
    const ridge_mesh *mesh = &m->partition->mesh;
    const unsigned cut = cut_axes(m, tensor);
    for (int a = 0; a < mesh->n; a++) {
        if (!((cut >> a) & 1U) && m->coords[a] != 0)
            return false;
    }
    return true;
}

ridge_region ridge__tensor_region(const ridge__machine *m, int tensor)
{
    const ridge_tensor *t = &m->program->tensors[tensor];
    const ridge__tensor_part *part = &m->parts[tensor];
    ridge_region region = {.n_dims = t->n_dims};
    for (int i = 0; i < t->n_dims; i++) {
        region.shape[i] = m->program->dims[t->dims[i]].size;
        region.start[i] = part->spans[i].start;
        region.count[i] = part->spans[i].valid;
        if (region.count[i] == 0)
            region.start[i] = 0;
    }
    return region;
}
