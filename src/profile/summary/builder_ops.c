/* Operations of a file's store as rows with texts; alike ones of several files are one.
 */
#include "op_shapes.h"
#include "profile_builder.h"

#include <string.h>

/* What rows are told apart by; numbers of the builder's texts. */
typedef struct row_key {
    uint32_t name, call, module, category, source, shapes;
    int32_t layer;
    uint32_t class;
} row_key;

/* "…/layers_12/attention": the number behind the word for a layer, or -1. */
static int layer_of_scope(const char *scope)
{
    static const char *const words[] = {"layers_", "layers.", "layer_", "layer.",
                                        "blocks.", "block_",  "/h_",    "h."};
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        const char *at = strstr(scope, words[i]);
        if (at == NULL)
            continue;
        at += strlen(words[i]);
        int layer = -1;
        for (; *at >= '0' && *at <= '9' && layer < 100000; at++)
            layer = 10 * (layer < 0 ? 0 : layer) + (*at - '0');
        if (layer >= 0)
            return layer;
    }
    return -1;
}

/* What the trace tells of an operation, as texts of the store. */
typedef struct row_told {
    const char *name, *call, *module, *category, *source, *shapes, *types, *values;
    int layer;
} row_told;

static row_told told_of(const op_tally *tally, uint32_t number)
{
    const trace_store *store = tally->store;
    const tally_key *key = op_tally_key(tally, number);
    const trace_op_key *op = trace_store_op_key(store, key->op);
    const trace_context *context = call_nest_context(store, key->context);
    const trace_host_key *call = trace_store_host_key(store, context->host_op);
    const char *scope = trace_store_text(store, op->scope);
    row_told told = {.name = trace_store_text(store, op->name),
                     .call = trace_store_text(store, call->name),
                     .module = trace_store_text(store, context->module),
                     .category = trace_store_text(store, op->category),
                     .source = trace_store_text(store, context->source),
                     .shapes = trace_store_text(store, call->shapes),
                     .types = trace_store_text(store, call->types),
                     .values = trace_store_text(store, call->values),
                     .layer = (int)context->layer - 1};
    if (context->host_op == 0) {
        told.call = scope;
        told.shapes = trace_store_text(store, op->shapes);
    }
    if (context->module == 0)
        told.module = trace_store_text(store, op->module);
    if (context->source == 0)
        told.source = trace_store_text(store, op->source);
    if (told.layer < 0)
        told.layer = layer_of_scope(scope);
    return told;
}

/* Without the white space of the document; in the scratch arena. */
static const char *squeezed(profile_builder *b, const char *shapes)
{
    char *to = ridge_new(ridge_ctx_scratch(b->cx), char, strlen(shapes) + 1);
    size_t n = 0;
    bool is_space = false;
    for (const char *p = shapes; to != NULL && *p != 0; p++) {
        const bool is_white = *p == ' ' || *p == '\n' || *p == '\t' || *p == '\r';
        if (!is_white && is_space && n > 0 && strchr("[,", to[n - 1]) == NULL &&
            strchr("[],", *p) == NULL)
            to[n++] = ' ';
        if (!is_white)
            to[n++] = *p;
        is_space = is_white;
    }
    return to == NULL ? "" : to;
}

static ridge_profile_op *row_new(profile_builder *b)
{
    ridge_profile_op *op = ridge_new(ridge_ctx_arena(b->cx), ridge_profile_op, 1);
    void *place = op == NULL ? NULL : record_list_add(&b->ops);
    if (place != NULL)
        memcpy(place, &op, sizeof op);
    return place == NULL ? NULL : op;
}

static ridge_status row_find(profile_builder *b, const row_told *told,
                             ridge_profile_class class, ridge_profile_op **out)
{
    row_key key;
    memset(&key, 0, sizeof key);
    const char *const texts[] = {told->name,     told->call,   told->module,
                                 told->category, told->source, told->shapes};
    uint32_t *const numbers[] = {&key.name,     &key.call,   &key.module,
                                 &key.category, &key.source, &key.shapes};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++)
        *numbers[i] = name_table_put(&b->texts, ridge_str_of(texts[i]));
    if (*told->shapes == '[') {
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(b->cx));
        key.shapes = name_table_put(&b->texts, ridge_str_of(squeezed(b, told->shapes)));
        ridge_arena_rewind(ridge_ctx_scratch(b->cx), mark);
    }
    key.layer = told->layer;
    key.class = (uint32_t) class;
    const uint32_t known = b->op_keys.n;
    const uint32_t at =
        name_table_put(&b->op_keys, (ridge_str){(const char *)&key, sizeof key});
    if (at == NAME_NONE || at < 2)
        return ridge_fail_nomem(b->cx);
    if (at < known) {
        memcpy(out, record_list_at(&b->ops, at - 2), sizeof *out);
        return RIDGE_OK;
    }
    ridge_profile_op *op = row_new(b);
    if (op == NULL)
        return ridge_fail_nomem(b->cx);
    *op = (ridge_profile_op){.name = name_table_get(&b->texts, key.name).p,
                             .class = class,
                             .call = name_table_get(&b->texts, key.call).p,
                             .module = name_table_get(&b->texts, key.module).p,
                             .category = name_table_get(&b->texts, key.category).p,
                             .source = name_table_get(&b->texts, key.source).p,
                             .shapes = name_table_get(&b->texts, key.shapes).p,
                             .layer = told->layer,
                             .least_ns = INT64_MAX,
                             .dtype = RIDGE_DTYPE_BF16};
    *out = op;
    return RIDGE_OK;
}

/* ---- work ------------------------------------------------------------------------ */

static bool is_class_of(ridge_profile_class kernel, ridge_profile_class call)
{
    const ridge_profile_part part = ridge_profile_class_part(kernel);
    if (call == RIDGE_CLASS_OTHER)
        return part == RIDGE_PROFILE_PART_COMPUTE || part == RIDGE_PROFILE_PART_COPY;
    return part == ridge_profile_class_part(call);
}

/* By context: the operation that does the call's work, which is the longest of its
 * kind; a call's other kernels help it, and its work is not counted for them. */
static ridge_status workers_find(op_tally *tally, uint32_t *workers)
{
    const trace_store *store = tally->store;
    for (uint32_t i = 2; i < tally->keys.n; i++) {
        const tally_key *key = op_tally_key(tally, i);
        const trace_context *c = call_nest_context(store, key->context);
        const trace_host_key *call = trace_store_host_key(store, c->host_op);
        if (c->host_op == 0)
            continue;
        const call_work work = op_shapes_work(&(call_text){
            trace_store_text(store, call->name), trace_store_text(store, call->shapes),
            trace_store_text(store, call->types),
            trace_store_text(store, call->values)});
        uint32_t *worker = &workers[key->context];
        if (is_class_of(tally->ops[i].class, work.class) &&
            (*worker == 0 || tally->ops[i].time_ns > tally->ops[*worker].time_ns))
            *worker = i;
    }
    return RIDGE_OK;
}

static void flops_add(ridge_profile_op *op, double flops)
{
    op->flops += flops;
    op->has_flops = true;
}

static void bytes_add(ridge_profile_op *op, double bytes)
{
    op->bytes += bytes;
    op->has_bytes = true;
}

/* Of all of the tally's runs of an operation. */
static void work_add(const op_tally *tally, uint32_t number, bool is_worker,
                     const row_told *told, ridge_profile_op *op)
{
    const tally_key *key = op_tally_key(tally, number);
    const trace_op *info = &tally->store->op_info[key->op];
    const double count = (double)tally->ops[number].count;
    if (info->has_flops)
        flops_add(op, info->flops * count);
    if (info->has_bytes)
        bytes_add(op, info->bytes * count);
    if (!is_worker)
        return;
    const call_work work = op_shapes_work(
        &(call_text){told->call, told->shapes, told->types, told->values});
    if (work.has_flops)
        flops_add(op, work.flops * count);
    if (work.has_bytes && !info->has_bytes)
        bytes_add(op, work.bytes * count);
    if (work.has_dtype) {
        op->dtype = work.dtype;
        op->has_dtype = true;
    }
}

ridge_status builder_ops_add(profile_builder *b, op_tally *tally)
{
    uint32_t *workers =
        ridge_new(tally->store->arena, uint32_t, (size_t)tally->store->contexts.n);
    if (workers == NULL)
        return ridge_fail_nomem(b->cx);
    RIDGE_TRY(workers_find(tally, workers));
    for (uint32_t i = 2; i < tally->keys.n; i++) {
        const tally_op *t = &tally->ops[i];
        const row_told told = told_of(tally, i);
        ridge_profile_op *op = NULL;
        if (t->count == 0 && t->time_ns == 0)
            continue;
        RIDGE_TRY(row_find(b, &told, t->class, &op));
        op->count += t->count;
        op->time_ns += t->time_ns;
        op->exposed_ns += t->exposed_ns;
        if (t->least_ns < op->least_ns)
            op->least_ns = t->least_ns;
        if (t->most_ns > op->most_ns)
            op->most_ns = t->most_ns;
        work_add(tally, i, workers[op_tally_key(tally, i)->context] == i, &told, op);
    }
    return RIDGE_OK;
}
