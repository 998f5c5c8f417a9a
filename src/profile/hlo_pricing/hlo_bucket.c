/* Kernels by opcode, by line of the source, by scope, by computation. */
#include "hlo_names.h"
#include "hlo_pricing.h"

#include <stdlib.h>
#include <string.h>

/* The scopes of an op_name, without jit(..) and what single operations are called:
 * "jit(step)/decoder/layers/mlp/dot_general" -> "decoder/layers/mlp". */
static ridge_str scope_of(const char *op_name)
{
    ridge_str s = ridge_str_of(op_name);
    size_t last = s.n;
    while (last > 0 && s.p[last - 1] != '/')
        last--;
    s.n = last > 0 ? last - 1 : 0;
    if (s.n > 4 && (memcmp(s.p, "jit(", 4) == 0 || memcmp(s.p, "pjit", 4) == 0)) {
        ridge_str rest = s;
        ridge_str_cut(&rest, '/');
        s = rest.p ? rest : (ridge_str){s.p, 0};
    }
    return s.n ? s : ridge_str_of("(no scope)");
}

static ridge_str key_of(const ridge_hlo_study *study, const ridge_hlo_op *op,
                        ridge_hlo_grouping by)
{
    switch (by) {
    case RIDGE_HLO_BY_CODE:
        return ridge_str_of(op->code);
    case RIDGE_HLO_BY_SOURCE:
        return ridge_str_of(op->source[0] ? op->source : "(no source)");
    case RIDGE_HLO_BY_SCOPE:
        return scope_of(op->scope);
    case RIDGE_HLO_BY_LAYER:
        break;
    }
    return study->module->computations[op->computation].name;
}

/** A bucket and where its key is. */
typedef struct draft {
    ridge_str key;
    int index;
    ridge_hlo_bucket bucket;
} draft;

static int heavier(const void *a, const void *b)
{
    const draft *x = a, *y = b;
    if (x->bucket.expected_s != y->bucket.expected_s)
        return x->bucket.expected_s > y->bucket.expected_s ? -1 : 1;
    if (x->bucket.bytes != y->bucket.bytes)
        return x->bucket.bytes > y->bucket.bytes ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static ridge_status fill(ridge_ctx *cx, ridge_hlo_study *out, ridge_hlo_grouping by)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    hlo_names names = {0, 0, NULL};
    draft *drafts = ridge_new(scratch, draft, (size_t)out->n_ops);
    int n = 0;
    if (drafts == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < out->n_ops; k++) {
        const ridge_hlo_op *op = &out->ops[k];
        const ridge_str key = key_of(out, op, by);
        int at = hlo_names_find(&names, 0, key);
        if (at < 0) {
            at = n++;
            drafts[at] = (draft){.key = key, .index = at};
            if (!hlo_names_put(scratch, &names, 0, key, at))
                return ridge_fail_nomem(cx);
        }
        const bool is_beside = op->exposed_s > 0 || op->hidden_s > 0;
        ridge_hlo_bucket *b = &drafts[at].bucket;
        b->n += (int64_t)op->times;
        b->flops += op->times * (op->matmul_flops + op->vector_flops);
        b->bytes += op->times * op->bytes;
        b->expected_s += op->times * (is_beside ? op->exposed_s : op->expected_s);
    }
    qsort(drafts, (size_t)n, sizeof *drafts, heavier);
    for (int k = 0; k < n && k < RIDGE_HLO_BUCKET_MAX; k++) {
        drafts[k].bucket.key = ridge_str_dup(ridge_ctx_arena(cx), drafts[k].key);
        if (drafts[k].bucket.key == NULL)
            return ridge_fail_nomem(cx);
        out->buckets[by][out->n_buckets[by]++] = drafts[k].bucket;
    }
    return RIDGE_OK;
}

ridge_status hlo_buckets_fill(ridge_ctx *cx, ridge_hlo_study *out)
{
    for (int by = 0; by < RIDGE_HLO_GROUPING_COUNT; by++) {
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
        const ridge_status st = fill(cx, out, (ridge_hlo_grouping)by);
        ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
        RIDGE_TRY(st);
    }
    return RIDGE_OK;
}
