/* Rows by operation and context; the kind of each is found once. */
#include "op_tally.h"
#include "call_nest.h"

#include "op_class.h"

#include <string.h>

ridge_status op_tally_init(trace_store *store, op_tally *out)
{
    op_tally t = {.store = store, .n_gaps = store->host_ops.n};
    record_list_init(&t.runs, store->arena, sizeof(tally_run));
    t.gaps = ridge_new(store->arena, tally_gap, t.n_gaps);
    if (t.gaps == NULL || !name_table_init(&t.keys, store->arena, UINT32_MAX))
        return ridge_fail_nomem(store->cx);
    *out = t;
    return RIDGE_OK;
}

const tally_key *op_tally_key(const op_tally *tally, uint32_t number)
{
    static const tally_key none;
    const ridge_str bytes = name_table_get(&tally->keys, number);
    return bytes.n == sizeof none && number > 1 ? (const void *)bytes.p : &none;
}

static const char *collective_of(const trace_store *store, uint32_t message)
{
    const trace_message *m = trace_store_message_at(store, message);
    return m == NULL ? "" : trace_store_text(store, m->collective);
}

static ridge_profile_class class_of(const trace_store *store, const tally_key *key)
{
    const trace_op_key *op = trace_store_op_key(store, key->op);
    const trace_context *context = call_nest_context(store, key->context);
    const trace_host_key *call = trace_store_host_key(store, context->host_op);
    const op_told told = {
        .name = trace_store_text(store, op->name),
        .category = trace_store_text(store, op->category),
        .text = trace_store_text(store, op->shapes),
        .scope = trace_store_text(store, op->scope),
        .call = trace_store_text(store, call->name),
        .collective = collective_of(store, op->message ? op->message : call->message),
        .is_copy = store->op_info != NULL && store->op_info[key->op].is_copy,
        .is_within_attention = (context->within & TRACE_WITHIN_ATTENTION) != 0,
        .is_within_optimizer = (context->within & TRACE_WITHIN_OPTIMIZER) != 0};
    return op_class_of(&told);
}

static bool rows_grow(op_tally *t, uint32_t number)
{
    uint32_t room = t->room == 0 ? 256 : 2 * t->room;
    while (room <= number)
        room *= 2;
    tally_op *ops = ridge_new(t->store->arena, tally_op, room);
    if (ops == NULL) {
        t->store->is_short = true;
        return false;
    }
    if (t->room > 0)
        memcpy(ops, t->ops, t->room * sizeof *ops);
    t->ops = ops;
    t->room = room;
    return true;
}

uint32_t op_tally_number(op_tally *t, uint32_t op, uint32_t context)
{
    const tally_key key = {op, context};
    const uint32_t known = t->keys.n;
    const uint32_t number =
        name_table_put(&t->keys, (ridge_str){(const char *)&key, sizeof key});
    if (number == NAME_NONE || (number >= t->room && !rows_grow(t, number))) {
        t->store->is_short = true;
        return NAME_NONE;
    }
    if (number >= known) {
        const ridge_profile_class class = class_of(t->store, &key);
        t->ops[number].class = class;
        t->ops[number].part = ridge_profile_class_part(class);
        t->ops[number].least_ns = INT64_MAX;
    }
    return number;
}

void op_tally_gap(op_tally *t, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
    /* What the host did in the middle of the gap: launches are at its end. */
    const trace_call *c =
        call_nest_at(t->store, thread, start_ns + (end_ns - start_ns) / 2);
    const uint32_t cause = c == NULL ? 0 : c->host_op;
    tally_gap *gap = &t->gaps[cause < t->n_gaps ? cause : 0];
    gap->count++;
    gap->time_ns += end_ns - start_ns;
    gap->is_sync =
        trace_store_host_key(t->store, cause)->kind == TRACE_CALL_SYNC && cause != 0;
}
