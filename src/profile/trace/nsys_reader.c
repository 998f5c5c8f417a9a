/*
 * SQLite exports of Nsight Systems (nsys export --type sqlite), tables by their
 * published names; each is optional. Rows come one by one, so the file may have any
 * size.
 *
 *     StringIds(id, value)
 *     CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,
 *                                demangledName | shortName)
 *     CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET(start, end, deviceId, streamId,
 *                                         correlationId, bytes)
 *     CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId)
 *     NVTX_EVENTS(start, end, text | textId, globalTid)
 *     TARGET_INFO_GPU(id, name)
 */
#include "step_name.h"
#include "trace_reader.h"

#include <sqlite3.h>
#include <string.h>

typedef struct nsys {
    ridge_ctx *cx;
    const char *path;
    sqlite3 *db;
    trace_store *store;
    bool is_known; /* any of its tables is there */
} nsys;

typedef void nsys_row(nsys *n, sqlite3_stmt *row);

/* ---- queries --------------------------------------------------------------------- */

static bool has_column(const nsys *n, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(n->db, NULL, table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static ridge_status fail_query(nsys *n)
{
    return ridge_fail(n->cx, RIDGE_E_PARSE, "%s: %s: export it anew from the .nsys-rep",
                      n->path, sqlite3_errmsg(n->db));
}

/* Every row of a query to a function. A damaged file gives what could be read. */
static ridge_status each_row(nsys *n, const char *sql, nsys_row *take)
{
    sqlite3_stmt *row;
    if (sqlite3_prepare_v2(n->db, sql, -1, &row, NULL) != SQLITE_OK)
        return fail_query(n);
    int got = sqlite3_step(row);
    for (int64_t i = 0; got == SQLITE_ROW && !n->store->is_short; i++) {
        take(n, row);
        got = sqlite3_step(row);
        if (i % 65536 == 0 && ridge_ctx_is_cancelled(n->cx))
            break;
    }
    sqlite3_finalize(row);
    if (n->store->is_short)
        return ridge_fail_nomem(n->cx);
    if (ridge_ctx_is_cancelled(n->cx))
        return ridge_fail(n->cx, RIDGE_E_CANCELLED, "cancelled");
    if (got != SQLITE_DONE)
        trace_store_lose(n->store, "rows of a damaged table", -1);
    return RIDGE_OK;
}

static ridge_str text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? (ridge_str){"", 0}
                        : (ridge_str){text, (size_t)sqlite3_column_bytes(row, column)};
}

/* A number's text as an id of a process, track or thread. */
typedef struct id_text {
    char s[24];
} id_text;

static id_text id_at(sqlite3_stmt *row, int column)
{
    id_text id;
    snprintf(id.s, sizeof id.s, "%lld", (long long)sqlite3_column_int64(row, column));
    return id;
}

/* Columns 0 and 1 are start and end. */
static bool span_at(nsys *n, sqlite3_stmt *row, int64_t *start_ns, int64_t *length_ns)
{
    const int64_t start = sqlite3_column_int64(row, 0);
    const int64_t end = sqlite3_column_int64(row, 1);
    const int64_t most = (int64_t)1 << 61;
    n->store->events++;
    if (end < start || start < -most || end > most) {
        trace_store_lose(n->store, "rows that end before they start", -1);
        return false;
    }
    *start_ns = start;
    *length_ns = end - start;
    return true;
}

/* ---- rows ------------------------------------------------------------------------ */

/* start, end, device, stream, correlation, name, bytes or null */
static void device_row(nsys *n, sqlite3_stmt *row, bool is_copy)
{
    int64_t start_ns;
    int64_t length_ns;
    if (!span_at(n, row, &start_ns, &length_ns))
        return;
    const id_text device = id_at(row, 2);
    const id_text stream = id_at(row, 3);
    trace_track *track = trace_store_track(n->store, ridge_str_of(device.s),
                                           ridge_str_of(stream.s), true);
    const int64_t bytes = sqlite3_column_int64(row, 6);
    const trace_op_key key = {.name = trace_store_name(n->store, text_at(row, 5)),
                              .moved = is_copy ? (uint32_t)bytes : 0};
    const uint32_t op = trace_store_op(n->store, &key);
    if (track == NULL || n->store->is_short)
        return;
    trace_op *info = &n->store->op_info[op];
    info->is_copy = is_copy;
    info->is_kernel = !is_copy;
    info->has_bytes = is_copy && bytes > 0;
    info->bytes = (double)bytes;
    trace_store_slice(n->store, track, (trace_span){start_ns, length_ns}, op,
                      (uint32_t)sqlite3_column_int64(row, 4));
}

static void kernel_row(nsys *n, sqlite3_stmt *row)
{
    device_row(n, row, false);
}

static void copy_row(nsys *n, sqlite3_stmt *row)
{
    device_row(n, row, true);
}

static void call_add(nsys *n, sqlite3_stmt *row, ridge_str name, trace_call_kind kind)
{
    int64_t start_ns;
    int64_t length_ns;
    const id_text thread = id_at(row, 2);
    trace_thread *t =
        trace_store_thread(n->store, ridge_str_of("nsys"), ridge_str_of(thread.s));
    if (t == NULL || !span_at(n, row, &start_ns, &length_ns))
        return;
    const trace_host_key key = {.name = trace_store_name(n->store, name),
                                .kind = (uint32_t)kind};
    trace_store_call(n->store, t, start_ns, length_ns,
                     trace_store_host_op(n->store, &key));
}

static bool has_word(ridge_str text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, word, n) == 0)
            return true;
    }
    return false;
}

/* start, end, thread, correlation, name */
static void runtime_row(nsys *n, sqlite3_stmt *row)
{
    const ridge_str name = text_at(row, 4);
    const uint32_t link = (uint32_t)sqlite3_column_int64(row, 3);
    if (has_word(name, "aunch") || has_word(name, "emcpy") || has_word(name, "emset")) {
        const id_text thread = id_at(row, 2);
        trace_thread *t =
            trace_store_thread(n->store, ridge_str_of("nsys"), ridge_str_of(thread.s));
        if (t != NULL && link != 0)
            trace_store_launch(n->store, t, sqlite3_column_int64(row, 0), link);
    }
    if (has_word(name, "ynchronize") || has_word(name, "alloc") ||
        has_word(name, "Free") || has_word(name, "emcpy"))
        call_add(n, row, name, TRACE_CALL_SYNC);
}

/* start, end, thread, text */
static void range_row(nsys *n, sqlite3_stmt *row)
{
    const ridge_str name = text_at(row, 3);
    const int64_t start_ns = sqlite3_column_int64(row, 0);
    const int64_t end_ns = sqlite3_column_int64(row, 1);
    if (step_name_is(name) && end_ns > start_ns)
        trace_store_mark(n->store, name, start_ns, end_ns - start_ns);
    call_add(n, row, name, TRACE_CALL_NOTE);
}

static void gpu_row(nsys *n, sqlite3_stmt *row)
{
    if (n->store->n_hardware < TRACE_HARDWARE_MAX)
        n->store->hardware[n->store->n_hardware++] = (trace_hardware){
            sqlite3_column_int64(row, 0), trace_store_name(n->store, text_at(row, 1))};
}

/* ---- tables ---------------------------------------------------------------------- */

typedef struct nsys_table {
    const char *table, *column; /* of which the query is made */
    const char *sql;
    nsys_row *take;
} nsys_table;

static const nsys_table tables[] = {
    {"TARGET_INFO_GPU", "name", "SELECT id, name FROM TARGET_INFO_GPU", gpu_row},
    {"CUPTI_ACTIVITY_KIND_KERNEL", "demangledName",
     "SELECT k.start, k.end, k.deviceId, k.streamId, k.correlationId, s.value, NULL "
     "FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = "
     "k.demangledName",
     kernel_row},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "bytes",
     "SELECT start, end, deviceId, streamId, correlationId, CASE copyKind WHEN 1 THEN "
     "'Memcpy HtoD' WHEN 2 THEN 'Memcpy DtoH' WHEN 8 THEN 'Memcpy DtoD' WHEN 10 THEN "
     "'Memcpy PtoP' ELSE 'Memcpy' END, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY",
     copy_row},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "bytes",
     "SELECT start, end, deviceId, streamId, correlationId, 'Memset', bytes FROM "
     "CUPTI_ACTIVITY_KIND_MEMSET",
     copy_row},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "nameId",
     "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value FROM "
     "CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds s ON s.id = r.nameId",
     runtime_row},
    {"NVTX_EVENTS", "textId",
     "SELECT e.start, e.end, e.globalTid, coalesce(e.text, s.value) FROM NVTX_EVENTS e "
     "LEFT JOIN StringIds s ON s.id = e.textId WHERE e.end IS NOT NULL",
     range_row},
};

static ridge_status tables_read(nsys *n)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(tables); i++) {
        if (!has_column(n, tables[i].table, tables[i].column))
            continue;
        n->is_known = true;
        RIDGE_TRY(each_row(n, tables[i].sql, tables[i].take));
    }
    if (!n->is_known)
        return ridge_fail(n->cx, RIDGE_E_PARSE,
                          "%s: no tables of Nsight Systems in it: export one by nsys "
                          "export --type sqlite",
                          n->path);
    return RIDGE_OK;
}

ridge_status nsys_reader_read(ridge_ctx *cx, const char *path, trace_store *out)
{
    nsys n = {.cx = cx, .path = path, .store = out};
    const int opened = sqlite3_open_v2(path, &n.db, SQLITE_OPEN_READONLY, NULL);
    ridge_status st = RIDGE_OK;
    if (opened != SQLITE_OK)
        st = ridge_fail(cx, RIDGE_E_IO, "%s: %s: export it anew from the .nsys-rep",
                        path, n.db == NULL ? "no memory" : sqlite3_errmsg(n.db));
    else
        st = tables_read(&n);
    sqlite3_close(n.db);
    return st;
}

ridge_status nsys_reader_of(ridge_ctx *cx, ridge_str bytes, trace_store *out)
{
    nsys n = {.cx = cx, .path = "bytes", .store = out};
    char *copy = ridge_new(out->arena, char, bytes.n + 1);
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    memcpy(copy, bytes.p, bytes.n);
    ridge_status st = RIDGE_OK;
    if (sqlite3_open_v2(":memory:", &n.db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_deserialize(n.db, "main", (unsigned char *)copy, (sqlite3_int64)bytes.n,
                            (sqlite3_int64)bytes.n,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        st = ridge_fail(cx, RIDGE_E_PARSE, "bytes: no database: give an SQLite export");
    else
        st = tables_read(&n);
    sqlite3_close(n.db);
    return st;
}
