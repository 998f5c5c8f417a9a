/* Growing a program. Arrays double; names of tensors are hashed. */
#include "builder.h"

#include <string.h>

enum { FIRST_ROOM = 64 };

bool ridge__builder_is_bad(const ridge__builder *b)
{
    return b->st != RIDGE_OK;
}

void ridge__builder_fail(ridge__builder *b, ridge_status st)
{
    if (b->st == RIDGE_OK)
        b->st = st;
}

void ridge__builder_fail_nomem(ridge__builder *b)
{
    if (b->st == RIDGE_OK)
        b->st = ridge_fail_nomem(b->cx);
}

/* ---- memory ---------------------------------------------------------------------- */

/* Room for one item more. @return the array, moved if need be; NULL without memory */
static void *grow(ridge__builder *b, void *items, int n, int *cap, size_t size)
{
    if (n < *cap)
        return items;
    if (n > INT32_MAX / 4) {
        ridge__builder_fail_nomem(b);
        return NULL;
    }
    const int room = *cap > 0 ? 2 * *cap : FIRST_ROOM;
    char *more = ridge_arena_new(b->arena, (size_t)room, size);
    if (more == NULL) {
        ridge__builder_fail_nomem(b);
        return NULL;
    }
    if (n > 0)
        memcpy(more, items, (size_t)n * size);
    *cap = room;
    return more;
}

/* FNV-1a: spreads short names well, and is the same everywhere. */
static unsigned hash_of(const char *name)
{
    unsigned h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

static void hash_add(ridge__builder *b, int tensor)
{
    const unsigned mask = (unsigned)b->n_slots - 1;
    unsigned at = hash_of(b->p.tensors[tensor].name) & mask;
    while (b->slots[at] != 0)
        at = (at + 1) & mask;
    b->slots[at] = tensor + 1;
}

/* Twice as many slots as tensors may come before the next time. */
static bool hash_grow(ridge__builder *b)
{
    if (b->n_slots > 2 * b->p.n_tensors)
        return true;
    const int n = b->n_slots > 0 ? 2 * b->n_slots : 4 * FIRST_ROOM;
    int *slots = ridge_new(b->arena, int, (size_t)n);
    if (slots == NULL) {
        ridge__builder_fail_nomem(b);
        return false;
    }
    b->slots = slots;
    b->n_slots = n;
    for (int i = 0; i < b->p.n_tensors; i++)
        hash_add(b, i);
    return true;
}

/* ---- opening and finishing ------------------------------------------------------- */

static char plain(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f || c == '#' ? '_' : c;
}

/* A copy without blanks, never empty. */
static const char *plain_name(ridge__builder *b, const char *name)
{
    const size_t n = strlen(name);
    char *copy = ridge_arena_new(b->arena, n + 2, 1);
    if (copy == NULL) {
        ridge__builder_fail_nomem(b);
        return "";
    }
    for (size_t i = 0; i < n; i++)
        copy[i] = plain(name[i]);
    if (n == 0)
        copy[0] = '_';
    return copy;
}

void ridge__builder_open(ridge__builder *b, ridge_ctx *cx, const char *name,
                         ridge_phase phase)
{
    *b = (ridge__builder){.cx = cx, .arena = ridge_ctx_arena(cx)};
    b->p.phase = phase;
    b->p.name = plain_name(b, name);
    b->p.dims = ridge_new(b->arena, ridge_program_dim, RIDGE_PROGRAM_DIM_MAX);
    if (b->p.dims == NULL)
        ridge__builder_fail_nomem(b);
}

void ridge__builder_copy(ridge__builder *b, ridge_ctx *cx, const ridge_program *program)
{
    ridge__builder_open(b, cx, program->name, program->phase);
    for (int i = 0; i < program->n_dims; i++) {
        const ridge_program_dim *d = &program->dims[i];
        ridge__builder_dim_named(b, d->name, d->size, d->used);
    }
    for (int i = 0; i < program->n_tensors; i++)
        ridge__builder_tensor(b, &program->tensors[i]);
    for (int i = 0; i < program->n_blocks; i++) {
        const ridge_block *block = &program->blocks[i];
        ridge__builder_block(b, block);
        for (int k = 0; k < block->n_ops; k++)
            ridge__builder_op(b, &program->ops[block->first_op + k]);
    }
    if (ridge__builder_is_bad(b))
        return;
    for (int i = 0; i < program->n_tensors; i++)
        b->p.tensors[i].block = program->tensors[i].block;
}

ridge_status ridge__builder_finish(ridge__builder *b, const ridge_program **out)
{
    if (ridge__builder_is_bad(b))
        return b->st;
    ridge_program *p = ridge_new(b->arena, ridge_program, 1);
    if (p == NULL)
        return ridge_fail_nomem(b->cx);
    *p = b->p;
    *out = p;
    return RIDGE_OK;
}

/* ---- dims ------------------------------------------------------------------------ */

int ridge__builder_dim_named(ridge__builder *b, const char *name, int64_t size,
                             double used)
{
    if (ridge__builder_is_bad(b) || ridge_program_dim_find(&b->p, name) >= 0)
        return -1;
    if (b->p.n_dims == RIDGE_PROGRAM_DIM_MAX) {
        ridge__builder_fail(b, ridge_fail(b->cx, RIDGE_E_ARG,
                                          "more than %d dims in one program",
                                          RIDGE_PROGRAM_DIM_MAX));
        return -1;
    }
    b->p.dims[b->p.n_dims] = (ridge_program_dim){name, size, used};
    return b->p.n_dims++;
}

/* Whether a name is the letter itself, or the letter and a number. */
static bool has_letter(const char *name, const char *letter)
{
    const size_t n = strlen(letter);
    if (strncmp(name, letter, n) != 0)
        return false;
    return name[n] == '\0' || (name[n] >= '0' && name[n] <= '9');
}

int ridge__builder_dim(ridge__builder *b, const char *letter, int64_t size)
{
    int same = 0;
    if (ridge__builder_is_bad(b))
        return -1;
    if (size < 1) {
        ridge__builder_fail(b, ridge_fail(b->cx, RIDGE_E_ARG,
                                          "dim %s of size %lld: sizes are at least 1",
                                          letter, (long long)size));
        return -1;
    }
    for (int i = 0; i < b->p.n_dims; i++) {
        if (!has_letter(b->p.dims[i].name, letter))
            continue;
        if (b->p.dims[i].size == size && !(b->p.dims[i].used > 0))
            return i;
        same++;
    }
    if (same == 0)
        return ridge__builder_dim_named(b, letter, size, 0);
    const char *name = ridge_sprintf(b->arena, "%s%d", letter, same + 1);
    if (name == NULL) {
        ridge__builder_fail_nomem(b);
        return -1;
    }
    return ridge__builder_dim_named(b, name, size, 0);
}

/* ---- blocks ---------------------------------------------------------------------- */

static bool has_block(const ridge_program *p, const char *name)
{
    for (int i = 0; i < p->n_blocks; i++) {
        if (strcmp(p->blocks[i].name, name) == 0)
            return true;
    }
    return false;
}

const char *ridge__builder_block_name(ridge__builder *b, const char *stem,
                                      const char *suffix)
{
    const char *name = ridge_sprintf(b->arena, "%s%s", stem, suffix);
    for (int i = 2; name != NULL && has_block(&b->p, name); i++)
        name = ridge_sprintf(b->arena, "%s%s_%d", stem, suffix, i);
    if (name == NULL) {
        ridge__builder_fail_nomem(b);
        return stem;
    }
    return name;
}

int ridge__builder_block(ridge__builder *b, const ridge_block *block)
{
    if (ridge__builder_is_bad(b))
        return -1;
    if (b->p.n_blocks == RIDGE__BLOCKS_MOST) {
        ridge__builder_fail(b, ridge_fail(b->cx, RIDGE_E_ARG, "more than %d blocks",
                                          RIDGE__BLOCKS_MOST));
        return -1;
    }
    ridge_block *blocks =
        grow(b, b->p.blocks, b->p.n_blocks, &b->cap_blocks, sizeof *blocks);
    if (blocks == NULL)
        return -1;
    b->p.blocks = blocks;
    blocks[b->p.n_blocks] = *block;
    blocks[b->p.n_blocks].first_op = b->p.n_ops;
    blocks[b->p.n_blocks].n_ops = 0;
    return b->p.n_blocks++;
}

/* ---- tensors --------------------------------------------------------------------- */

int ridge__builder_tensor_find(const ridge__builder *b, const char *name)
{
    if (b->n_slots == 0)
        return -1;
    const unsigned mask = (unsigned)b->n_slots - 1;
    for (unsigned at = hash_of(name) & mask; b->slots[at] != 0; at = (at + 1) & mask) {
        const int i = b->slots[at] - 1;
        if (strcmp(b->p.tensors[i].name, name) == 0)
            return i;
    }
    return -1;
}

static bool has_countable_elements(const ridge_program *p, const ridge_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->n_dims; i++) {
        if (!ridge_mul_i64(n, p->dims[t->dims[i]].size, &n))
            return false;
    }
    return true;
}

int ridge__builder_tensor(ridge__builder *b, const ridge_tensor *tensor)
{
    if (ridge__builder_is_bad(b) || !hash_grow(b))
        return -1;
    if (!has_countable_elements(&b->p, tensor)) {
        ridge__builder_fail(b, ridge_fail(b->cx, RIDGE_E_ARG,
                                          "tensor '%.60s' has more than 2^63 elements: "
                                          "use smaller sizes",
                                          tensor->name));
        return -1;
    }
    if (ridge__builder_tensor_find(b, tensor->name) >= 0) {
        ridge__builder_fail(b,
                            ridge_fail(b->cx, RIDGE_E_ARG,
                                       "two tensors are called '%.60s'", tensor->name));
        return -1;
    }
    ridge_tensor *tensors =
        grow(b, b->p.tensors, b->p.n_tensors, &b->cap_tensors, sizeof *tensors);
    if (tensors == NULL)
        return -1;
    b->p.tensors = tensors;
    tensors[b->p.n_tensors] = *tensor;
    tensors[b->p.n_tensors].block = b->p.n_blocks - 1;
    hash_add(b, b->p.n_tensors);
    return b->p.n_tensors++;
}

ridge__range *ridge__builder_ranges(ridge__builder *b)
{
    ridge__range *ranges = ridge_new(b->arena, ridge__range, (size_t)b->p.n_blocks + 1);
    if (ranges == NULL) {
        ridge__builder_fail_nomem(b);
        return NULL;
    }
    for (int i = 0; i < b->p.n_tensors; i++) {
        ridge__range *r = &ranges[b->p.tensors[i].block];
        if (r->end == 0)
            r->first = i;
        r->end = i + 1;
    }
    return ranges;
}

const char *ridge__builder_name(ridge__builder *b, const char *wanted)
{
    const char *name = wanted;
    for (int i = 2; name != NULL && ridge__builder_tensor_find(b, name) >= 0; i++)
        name = ridge_sprintf(b->arena, "%s_%d", wanted, i);
    if (name == NULL) {
        ridge__builder_fail_nomem(b);
        return wanted;
    }
    return name;
}

/* ---- operations ------------------------------------------------------------------ */

ridge_operation ridge__operation_new(ridge_opcode code, const char *name)
{
    return (ridge_operation){.name = name,
                             .code = code,
                             .part = RIDGE_PART_NORM,
                             .forward_of = -1,
                             .position_dim = -1,
                             .dim_from = -1,
                             .dim_to = -1};
}

bool ridge__builder_has_op(const ridge__builder *b, const char *name)
{
    const ridge_block *block = &b->p.blocks[b->p.n_blocks - 1];
    for (int i = 0; i < block->n_ops; i++) {
        if (strcmp(b->p.ops[block->first_op + i].name, name) == 0)
            return true;
    }
    return false;
}

static const char *operation_name(ridge__builder *b, const char *wanted)
{
    const char *name = wanted;
    for (int i = 2; name != NULL && ridge__builder_has_op(b, name); i++)
        name = ridge_sprintf(b->arena, "%s_%d", wanted, i);
    if (name == NULL) {
        ridge__builder_fail_nomem(b);
        return wanted;
    }
    return name;
}

int ridge__builder_op(ridge__builder *b, const ridge_operation *op)
{
    if (ridge__builder_is_bad(b))
        return -1;
    if (b->p.blocks[b->p.n_blocks - 1].n_ops == RIDGE__BLOCK_OPS_MOST) {
        ridge__builder_fail(b, ridge_fail(b->cx, RIDGE_E_ARG,
                                          "more than %d operations in one block",
                                          RIDGE__BLOCK_OPS_MOST));
        return -1;
    }
    const char *fault = ridge__operation_fault(&b->p, op);
    if (fault != NULL) {
        ridge__builder_fail(b, ridge_fail(b->cx, RIDGE_E_ARG, "operation '%.60s': %s",
                                          op->name, fault));
        return -1;
    }
    ridge_operation *ops = grow(b, b->p.ops, b->p.n_ops, &b->cap_ops, sizeof *ops);
    if (ops == NULL)
        return -1;
    b->p.ops = ops;
    ops[b->p.n_ops] = *op;
    ops[b->p.n_ops].name = operation_name(b, op->name);
    b->p.blocks[b->p.n_blocks - 1].n_ops++;
    return b->p.n_ops++;
}
