/* Operations summed up by a key. */
#include "ridge/profile.h"

#include <stdlib.h>
#include <string.h>

static const char *key_of(ridge_ctx *cx, const ridge_profile_op *op,
                          ridge_profile_key key)
{
    switch (key) {
    case RIDGE_KEY_CLASS:
        return ridge_profile_class_text(op->class);
    case RIDGE_KEY_NAME:
        return op->name;
    case RIDGE_KEY_CALL:
        return op->call;
    case RIDGE_KEY_MODULE:
        return op->module;
    case RIDGE_KEY_CATEGORY:
        return op->category;
    case RIDGE_KEY_SOURCE:
        return op->source;
    case RIDGE_KEY_LAYER:
        return op->layer < 0 ? "" : ridge_sprintf(ridge_ctx_arena(cx), "%d", op->layer);
    case RIDGE_KEY_COUNT:
        break;
    }
    return "";
}

static void op_add(ridge_profile_group *g, const ridge_profile_op *op)
{
    g->count += op->count;
    g->time_ns += op->time_ns;
    if (op->has_flops) {
        g->has_flops = true;
        g->flops += op->flops;
        g->flops_ns += op->time_ns;
    }
    if (op->has_bytes) {
        g->has_bytes = true;
        g->bytes += op->bytes;
        g->bytes_ns += op->time_ns;
    }
    if (op->has_roofline) {
        g->roofline_s += op->roofline_s;
        g->roofline_ns += op->time_ns;
        g->gap_s += op->gap_s;
    }
}

/* An operation and the key that it goes by. */
typedef struct keyed_op {
    const char *key;
    const ridge_profile_op *op;
} keyed_op;

static int compare_keyed(const void *a, const void *b)
{
    const keyed_op *x = a;
    const keyed_op *y = b;
    const int names = strcmp(x->key, y->key);
    return names != 0 ? names : x->op < y->op ? -1 : x->op > y->op;
}

static int compare_groups(const void *a, const void *b)
{
    const ridge_profile_group *x = a;
    const ridge_profile_group *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

ridge_status ridge_profile_group_by(ridge_ctx *cx, const ridge_profile *profile,
                                    ridge_profile_key key, ridge_profile_group **groups,
                                    int *n)
{
    const size_t ops = (size_t)profile->n_ops;
    keyed_op *keyed = ridge_new(ridge_ctx_arena(cx), keyed_op, ops);
    ridge_profile_group *rows =
        ridge_new(ridge_ctx_arena(cx), ridge_profile_group, ops);
    int made = 0;
    if (keyed == NULL || rows == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < ops; i++) {
        const char *name = key_of(cx, &profile->ops[i], key);
        if (name == NULL)
            return ridge_fail_nomem(cx);
        keyed[i] = (keyed_op){name, &profile->ops[i]};
    }
    qsort(keyed, ops, sizeof *keyed, compare_keyed);
    for (size_t i = 0; i < ops; i++) {
        if (made == 0 || strcmp(rows[made - 1].name, keyed[i].key) != 0)
            rows[made++].name = keyed[i].key;
        op_add(&rows[made - 1], keyed[i].op);
    }
    qsort(rows, (size_t)made, sizeof *rows, compare_groups);
    *groups = rows;
    *n = made;
    return RIDGE_OK;
}
