/* Records and names of one trace. */
#include "trace_store.h"

#include <string.h>

enum { NAMES_MOST = 1 << 21, TRACKS_MOST = 1 << 16 };

#define LONG_CALL ((uint32_t)1 << 31)

int64_t trace_call_end(const trace_call *c)
{
    if ((c->length & LONG_CALL) == 0)
        return c->start_ns + c->length;
    return c->start_ns + (int64_t)(c->length & ~LONG_CALL) * 1000;
}

ridge_status trace_store_init(ridge_ctx *cx, ridge_arena *arena, trace_store *out)
{
    trace_store s = {.cx = cx, .arena = arena, .rank = -1};
    name_table *const tables[] = {&s.names,       &s.ops,         &s.host_ops,
                                  &s.messages,    &s.contexts,    &s.track_keys,
                                  &s.thread_keys, &s.process_keys};
    for (size_t i = 0; i < RIDGE_COUNT_OF(tables); i++) {
        if (!name_table_init(tables[i], arena, NAMES_MOST))
            return ridge_fail_nomem(cx);
    }
    record_list_init(&s.tracks, arena, sizeof(trace_track *));
    record_list_init(&s.threads, arena, sizeof(trace_thread *));
    record_list_init(&s.processes, arena, sizeof(trace_process *));
    record_list_init(&s.marks, arena, sizeof(trace_mark));
    *out = s;
    return RIDGE_OK;
}

/* ---- names ----------------------------------------------------------------------- */

/* Bytes of the character at i, if it is one that can be shown; else 0: a control
 * character, or no UTF-8. Overlong forms and surrogates are let pass: they are only
 * shown. */
static size_t character_bytes(ridge_str s, size_t i)
{
    const unsigned char c = (unsigned char)s.p[i];
    const size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (c < 0x20 || c == 0x7f || c > 0xf4 || n == 0 || i + n > s.n)
        return 0;
    for (size_t k = 1; k < n; k++) {
        if (((unsigned char)s.p[i + k] & 0xc0) != 0x80)
            return 0;
    }
    return n;
}

static bool can_be_shown(ridge_str s)
{
    size_t i = 0;
    size_t n = 1;
    for (; i < s.n && n > 0; i += n)
        n = character_bytes(s, i);
    return n > 0;
}

static uint32_t name_cleaned(trace_store *store, ridge_str text)
{
    const ridge_mark mark = ridge_arena_mark(store->arena);
    char *clean = ridge_new(store->arena, char, text.n + 1);
    if (clean == NULL)
        return NAME_NONE;
    for (size_t i = 0; i < text.n;) {
        const size_t n = character_bytes(text, i);
        if (n > 0)
            memcpy(clean + i, text.p + i, n);
        else
            clean[i] = (unsigned char)text.p[i] < 0x20 ? ' ' : '?';
        i += n > 0 ? n : 1;
    }
    const ridge_str cleaned = {clean, text.n};
    const uint32_t known = name_table_find(&store->names, cleaned);
    if (known != NAME_NONE) {
        ridge_arena_rewind(store->arena, mark);
        return known;
    }
    return name_table_put(&store->names, cleaned);
}

static uint32_t checked(trace_store *store, uint32_t number)
{
    if (number == NAME_NONE)
        store->is_short = true;
    return number;
}

uint32_t trace_store_name(trace_store *store, ridge_str text)
{
    const uint32_t known = name_table_find(&store->names, text);
    if (known != NAME_NONE)
        return known;
    return checked(store, !can_be_shown(text) ? name_cleaned(store, text)
                                              : name_table_put(&store->names, text));
}

const char *trace_store_text(const trace_store *store, uint32_t name)
{
    return name_table_get(&store->names, name).p;
}

static ridge_str bytes_of(const void *p, size_t n)
{
    return (ridge_str){p, n};
}

/* Keys have only numbers in them, so their bytes tell them apart. Numbers 0 and 1 of a
 * table are texts: of these there is no key. */
static const void *key_at(const name_table *table, uint32_t number, size_t size)
{
    const ridge_str bytes = name_table_get(table, number);
    return bytes.n == size && number > 1 ? (const void *)bytes.p : NULL;
}

uint32_t trace_store_op(trace_store *store, const trace_op_key *key)
{
    const uint32_t op =
        checked(store, name_table_put(&store->ops, bytes_of(key, sizeof *key)));
    if (op == NAME_NONE || op < store->op_room)
        return op == NAME_NONE ? 0 : op;
    const uint32_t room = store->op_room == 0 ? 256 : 2 * store->op_room;
    trace_op *info = ridge_new(store->arena, trace_op, room);
    if (info == NULL) {
        store->is_short = true;
        return 0;
    }
    if (store->op_room > 0)
        memcpy(info, store->op_info, store->op_room * sizeof *info);
    store->op_info = info;
    store->op_room = room;
    return op;
}

const trace_op_key *trace_store_op_key(const trace_store *store, uint32_t op)
{
    static const trace_op_key none;
    const trace_op_key *key = key_at(&store->ops, op, sizeof none);
    return key == NULL ? &none : key;
}

uint32_t trace_store_host_op(trace_store *store, const trace_host_key *key)
{
    const uint32_t n =
        checked(store, name_table_put(&store->host_ops, bytes_of(key, sizeof *key)));
    return n == NAME_NONE ? 0 : n;
}

const trace_host_key *trace_store_host_key(const trace_store *store, uint32_t host_op)
{
    static const trace_host_key none;
    const trace_host_key *key = key_at(&store->host_ops, host_op, sizeof none);
    return key == NULL ? &none : key;
}

uint32_t trace_store_message(trace_store *store, const trace_message *message)
{
    const uint32_t n = checked(
        store, name_table_put(&store->messages, bytes_of(message, sizeof *message)));
    return n == NAME_NONE ? 0 : n;
}

const trace_message *trace_store_message_at(const trace_store *store, uint32_t number)
{
    return key_at(&store->messages, number, sizeof(trace_message));
}

/* ---- tracks ---------------------------------------------------------------------- */

/* The number of "pid" or "pid tid" in a table, by its bytes; kind keeps devices apart.
 */
static uint32_t id_number(trace_store *store, name_table *table, ridge_str pid,
                          ridge_str tid, char kind)
{
    char id[128];
    size_t n = 0;
    id[n++] = kind;
    const size_t pid_n = pid.n < 60 ? pid.n : 60;
    const size_t tid_n = tid.n < 60 ? tid.n : 60;
    if (pid_n > 0)
        memcpy(id + n, pid.p, pid_n);
    n += pid_n;
    id[n++] = '\n';
    if (tid_n > 0)
        memcpy(id + n, tid.p, tid_n);
    n += tid_n;
    const uint32_t number = checked(store, name_table_put(table, (ridge_str){id, n}));
    return number == NAME_NONE || number > TRACKS_MOST ? NAME_NONE : number - 2;
}

/* Lists hold pointers, so that what they point to stays where it is. */
static void *pointer_at(const record_list *list, size_t i)
{
    void *p;
    memcpy(&p, record_list_at(list, i), sizeof p);
    return p;
}

static void *pointer_add(trace_store *store, record_list *list, size_t bytes)
{
    void *made = ridge_arena_new(store->arena, 1, bytes);
    void *place = made == NULL ? NULL : record_list_add(list);
    if (place == NULL) {
        store->is_short = true;
        return NULL;
    }
    memcpy(place, &made, sizeof made);
    return made;
}

trace_process *trace_store_process(trace_store *store, ridge_str pid, bool is_device,
                                   uint32_t *number)
{
    const uint32_t at = id_number(store, &store->process_keys, pid, (ridge_str){"", 0},
                                  is_device ? 'd' : 'p');
    if (at == NAME_NONE)
        return NULL;
    *number = at;
    if (at < store->processes.n)
        return trace_store_process_at(store, at);
    trace_process *p = pointer_add(store, &store->processes, sizeof *p);
    if (p != NULL)
        *p = (trace_process){
            .id = trace_store_name(store, pid), .is_device = is_device, .rank = -1};
    return p;
}

trace_track *trace_store_track(trace_store *store, ridge_str pid, ridge_str tid,
                               bool is_device)
{
    const uint32_t at =
        id_number(store, &store->track_keys, pid, tid, is_device ? 'd' : 'p');
    if (at == NAME_NONE)
        return NULL;
    if (at < store->tracks.n)
        return trace_store_track_at(store, at);
    uint32_t process;
    if (trace_store_process(store, pid, is_device, &process) == NULL)
        return NULL;
    trace_track *t = pointer_add(store, &store->tracks, sizeof *t);
    if (t == NULL)
        return NULL;
    t->process = process;
    t->thread = trace_store_name(store, tid);
    t->use = is_device ? TRACE_USE_OPS : TRACE_USE_UNKNOWN;
    record_list_init(&t->slices, store->arena, sizeof(trace_slice));
    record_list_init(&t->open, store->arena, sizeof(trace_slice));
    return t;
}

trace_thread *trace_store_thread(trace_store *store, ridge_str pid, ridge_str tid)
{
    const uint32_t at = id_number(store, &store->thread_keys, pid, tid, 't');
    if (at == NAME_NONE)
        return NULL;
    if (at < store->threads.n)
        return trace_store_thread_at(store, at);
    trace_thread *t = pointer_add(store, &store->threads, sizeof *t);
    if (t == NULL)
        return NULL;
    record_list_init(&t->calls, store->arena, sizeof(trace_call));
    record_list_init(&t->launches, store->arena, sizeof(trace_launch));
    record_list_init(&t->sequences, store->arena, sizeof(trace_sequence));
    return t;
}

trace_track *trace_store_track_at(const trace_store *store, size_t i)
{
    return pointer_at(&store->tracks, i);
}

trace_thread *trace_store_thread_at(const trace_store *store, size_t i)
{
    return pointer_at(&store->threads, i);
}

trace_process *trace_store_process_at(const trace_store *store, size_t i)
{
    return pointer_at(&store->processes, i);
}

/* ---- records --------------------------------------------------------------------- */

void trace_store_slice(trace_store *store, trace_track *track, trace_span span,
                       uint32_t op, uint32_t link)
{
    trace_slice *s = record_list_add(&track->slices);
    if (s == NULL) {
        store->is_short = true;
        return;
    }
    s->start_ns = span.start_ns;
    s->length_low_ns = (uint32_t)(span.length_ns & UINT32_MAX);
    s->length_high_ns = (uint32_t)(span.length_ns >> 32);
    s->op = op;
    s->link = link;
}

void trace_store_call(trace_store *store, trace_thread *thread, int64_t start_ns,
                      int64_t length_ns, uint32_t host_op)
{
    trace_call *c = record_list_add(&thread->calls);
    if (c == NULL) {
        store->is_short = true;
        return;
    }
    const int64_t us = length_ns / 1000;
    c->start_ns = start_ns;
    c->host_op = host_op;
    if (length_ns < (int64_t)LONG_CALL)
        c->length = (uint32_t)length_ns;
    else
        c->length =
            LONG_CALL | (us < (int64_t)LONG_CALL ? (uint32_t)us : LONG_CALL - 1);
    store->calls++;
}

void trace_store_launch(trace_store *store, trace_thread *thread, int64_t start_ns,
                        uint32_t link)
{
    trace_launch *l = record_list_add(&thread->launches);
    if (l == NULL) {
        store->is_short = true;
        return;
    }
    *l = (trace_launch){.start_ns = start_ns, .link = link};
}

void trace_store_sequence(trace_store *store, trace_thread *thread,
                          trace_sequence sequence)
{
    trace_sequence *s = record_list_add(&thread->sequences);
    if (s == NULL)
        store->is_short = true;
    else
        *s = sequence;
}

void trace_store_mark(trace_store *store, ridge_str name, int64_t start_ns,
                      int64_t length_ns)
{
    trace_mark *m = record_list_add(&store->marks);
    if (m == NULL) {
        store->is_short = true;
        return;
    }
    *m = (trace_mark){start_ns, start_ns + length_ns, trace_store_name(store, name), 0};
}

void trace_store_lose(trace_store *store, const char *what, int64_t offset)
{
    for (int i = 0; i < store->n_losses; i++) {
        if (strcmp(store->losses[i].what, what) == 0) {
            store->losses[i].count++;
            return;
        }
    }
    if (store->n_losses < TRACE_LOSS_MAX)
        store->losses[store->n_losses++] = (trace_loss){what, offset, 1};
}
