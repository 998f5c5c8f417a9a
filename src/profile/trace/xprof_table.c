/*
 * Tables of Google charts: {"cols": [{"id": ...}], "rows": [{"c": [{"v": ...}]}]}, one
 * or a list of them. Times are microseconds summed over all devices, FLOP/s are 1e9,
 * bytes/s are 2^30; shares are percent in one tool and parts of 1 in another.
 */
#include "xprof_table.h"

#include "ridge/base_stream.h"

#include <math.h>
#include <string.h>

enum { TABLE_BYTES_MOST = 1 << 28, COLUMNS_MOST = 256 };

/* Operations of all rows, and the time that they may take: a year of 1000 devices. */
static const double OCCURRENCES_MOST = 3.2e7;
static const double SELF_US_MOST = 3.2e16;

/* What is taken of a row. name, ids of the tools' columns, the best first */
/* clang-format off */
#define COLUMN_LIST(X)                                                          \
    X(NAME, "hlo_op_name", "operation")                                         \
    X(CATEGORY, "category", "type")                                             \
    X(MODULE, "program_id", "hlo_module_id")                                    \
    X(SCOPE, "tf_op_name", "")                                                  \
    X(SOURCE, "source_info", "")                                                \
    X(TEXT, "hlo_op_expression", "")                                            \
    X(COUNT, "occurrences", "")                                                 \
    X(TOTAL_US, "total_time", "")                                               \
    X(SELF_US, "total_self_time", "")                                           \
    X(SHARE, "total_self_time_percent", "device_total_self_time_percent")       \
    X(FLOP_RATE, "model_flop_rate", "measured_flop_rate")                       \
    X(HBM_RATE, "hbm_bw", "")                                                   \
    X(BYTE_RATE, "measured_memory_bw", "")                                      \
    X(STEP, "step", "")                                                         \
    X(SIDE, "host_or_device", "")                                               \
    X(WITH_INPUT, "include_infeed_outfeed", "")
/* clang-format on */

typedef enum column {
#define COLUMN_ENUM(name, best, other) COLUMN_##name,
    COLUMN_LIST(COLUMN_ENUM)
#undef COLUMN_ENUM
        COLUMN_END
} column;

static const char *const column_ids[COLUMN_END][2] = {
#define COLUMN_IDS(name, best, other) [COLUMN_##name] = {best, other},
    COLUMN_LIST(COLUMN_IDS)
#undef COLUMN_IDS
};

typedef struct table {
    trace_store *store;
    ridge_node rows;
    int place[COLUMN_END]; /* in a row; -1: the table has no such column */
    trace_track *track;
    uint32_t program; /* module of the row; in names */
    double at_us;     /* where the next operation begins */
    double shares;    /* of all rows */
    double idle_us;   /* that rows tell */
    double occurrences;
} table;

/* ---- cells ----------------------------------------------------------------------- */

static ridge_node cell_of(const table *t, const ridge_node *cells, column c,
                          ridge_node *cell)
{
    if (t->place[c] < 0)
        return (ridge_node){.value = NULL};
    *cell = ridge_json_at(cells, (size_t)t->place[c]);
    return ridge_json_get(cell, "v");
}

/* @return "" where there is none */
static const char *text_of(const table *t, const ridge_node *cells, column c)
{
    ridge_node cell;
    const char *text = "";
    const ridge_node value = cell_of(t, cells, c, &cell);
    return ridge_json_text(value, &text) ? text : "";
}

/* @return 0 where there is none */
static double number_of(const table *t, const ridge_node *cells, column c)
{
    ridge_node cell;
    double number = 0;
    const ridge_node value = cell_of(t, cells, c, &cell);
    return ridge_json_double(value, &number) ? number : 0;
}

/* "<div class='x'>axes.py:166</div>": what stands between the marks. */
static ridge_str without_marks(const char *text)
{
    const char *begin = text[0] == '<' ? strchr(text, '>') : NULL;
    if (begin == NULL)
        return ridge_str_of(text);
    const char *end = strchr(begin, '<');
    return (ridge_str){begin + 1,
                       end == NULL ? strlen(begin + 1) : (size_t)(end - begin - 1)};
}

/* ---- rows ------------------------------------------------------------------------ */

/* Rows of one tool's table that say the same again: by step, with and without input,
 * of the host, of the program as a whole. */
static bool is_wanted(const table *t, const ridge_node *cells)
{
    ridge_node cell;
    bool has_input = true;
    const ridge_node flag = cell_of(t, cells, COLUMN_WITH_INPUT, &cell);
    if (ridge_json_bool(flag, &has_input) && !has_input)
        return false;
    const char *step = text_of(t, cells, COLUMN_STEP);
    const char *side = text_of(t, cells, COLUMN_SIDE);
    return (step[0] == 0 || strcmp(step, "Total") == 0) &&
           (side[0] == 0 || strcmp(side, "Device") == 0) &&
           strcmp(text_of(t, cells, COLUMN_CATEGORY), "Program") != 0;
}

static uint32_t op_of(const table *t, const ridge_node *cells)
{
    trace_store *s = t->store;
    const trace_op_key key = {
        .name = trace_store_name(s, ridge_str_of(text_of(t, cells, COLUMN_NAME))),
        .module = trace_store_name(s, ridge_str_of(text_of(t, cells, COLUMN_MODULE))),
        .scope = trace_store_name(s, ridge_str_of(text_of(t, cells, COLUMN_SCOPE))),
        .category =
            trace_store_name(s, ridge_str_of(text_of(t, cells, COLUMN_CATEGORY))),
        .source = trace_store_name(s, without_marks(text_of(t, cells, COLUMN_SOURCE))),
        .shapes = trace_store_name(s, ridge_str_of(text_of(t, cells, COLUMN_TEXT)))};
    return trace_store_op(s, &key);
}

/* Rates are over the whole time: of what holds others they are those of its body. */
static void set_work(const table *t, const ridge_node *cells, double count, uint32_t op)
{
    enum { HOLDS_OTHERS_PERCENT = 1 };
    const double total_us = number_of(t, cells, COLUMN_TOTAL_US);
    const double self_us = number_of(t, cells, COLUMN_SELF_US);
    const double flop_rate = number_of(t, cells, COLUMN_FLOP_RATE) * 1e9;
    double byte_rate = number_of(t, cells, COLUMN_HBM_RATE);
    trace_op *info = &t->store->op_info[op];
    info->is_kernel = true;
    if (total_us > self_us * (1 + HOLDS_OTHERS_PERCENT / 100.0))
        return;
    if (byte_rate <= 0)
        byte_rate = number_of(t, cells, COLUMN_BYTE_RATE);
    if (flop_rate > 0) {
        info->has_flops = true;
        info->flops = flop_rate * self_us * 1e-6 / count;
    }
    if (byte_rate > 0) {
        info->has_bytes = true;
        info->bytes = byte_rate * 0x1p30 * self_us * 1e-6 / count;
    }
}

static int64_t ns_of(double us)
{
    return (int64_t)llround(us * 1e3);
}

static void place_row(table *t, const ridge_node *cells, double self_us, double count)
{
    const uint32_t op = op_of(t, cells);
    if (t->store->is_short)
        return;
    set_work(t, cells, count, op);
    int64_t start_ns = ns_of(t->at_us);
    for (double i = 1; i <= count; i++) {
        const int64_t end_ns = ns_of(t->at_us + self_us * (i / count));
        trace_store_slice(t->store, t->track, (trace_span){start_ns, end_ns - start_ns},
                          op, 0);
        start_ns = end_ns;
    }
    t->at_us += self_us;
    t->store->events++;
}

static void read_row(table *t, const ridge_node *cells)
{
    if (!is_wanted(t, cells))
        return;
    const double self_us = number_of(t, cells, COLUMN_SELF_US);
    const double count = fmax(1, floor(number_of(t, cells, COLUMN_COUNT) + 0.5));
    if (!(self_us >= 0 && t->at_us + self_us <= SELF_US_MOST)) {
        trace_store_lose(t->store, "rows whose times are malformed", -1);
        return;
    }
    t->shares += number_of(t, cells, COLUMN_SHARE);
    if (strcmp(text_of(t, cells, COLUMN_CATEGORY), "IDLE") == 0) {
        t->idle_us += self_us;
        return;
    }
    t->occurrences += count;
    if (t->occurrences <= OCCURRENCES_MOST)
        place_row(t, cells, self_us, count);
}

/* ---- tables ---------------------------------------------------------------------- */

/* @return whether it has times of operations */
static bool find_columns(const ridge_node *one, table *t)
{
    const ridge_node cols = ridge_json_get(one, "cols");
    const size_t n = ridge_json_size(cols);
    for (int c = 0; c < COLUMN_END; c++)
        t->place[c] = -1;
    for (size_t i = 0; i < n && i < COLUMNS_MOST; i++) {
        const ridge_node col = ridge_json_at(&cols, i);
        const char *id;
        if (!ridge_json_text(ridge_json_get(&col, "id"), &id))
            continue;
        for (int c = 0; c < COLUMN_END; c++) {
            const bool is_best = strcmp(id, column_ids[c][0]) == 0;
            if (is_best || (t->place[c] < 0 && strcmp(id, column_ids[c][1]) == 0))
                t->place[c] = (int)i;
        }
    }
    return t->place[COLUMN_NAME] >= 0 && t->place[COLUMN_SELF_US] >= 0;
}

/* Device and peak that the table names: texts, of 1e9 FLOP/s. */
static void read_properties(const ridge_node *one, trace_store *store,
                            trace_process *process)
{
    const ridge_node p = ridge_json_get(one, "p");
    const char *text;
    double flops = 0;
    if (ridge_json_text(ridge_json_get(&p, "device_type"), &text))
        process->hardware = trace_store_name(store, ridge_str_of(text));
    if (ridge_json_text(ridge_json_get(&p, "peak_flop_rate"), &text) &&
        ridge_parse_double(ridge_str_of(text), &flops) && flops > 0)
        store->peak_flops_per_s = flops * 1e9;
}

static ridge_status open_device(const ridge_node *one, table *t)
{
    const ridge_str all = ridge_str_of("all devices together");
    uint32_t number;
    trace_process *p = trace_store_process(t->store, all, false, &number);
    t->track = trace_store_track(t->store, all, ridge_str_of("XLA Ops"), false);
    if (p == NULL || t->track == NULL)
        return ridge_fail_nomem(t->store->cx);
    p->name = trace_store_name(t->store, all);
    read_properties(one, t->store, p);
    t->track->name = trace_store_name(t->store, ridge_str_of("XLA Ops"));
    t->track->use = TRACE_USE_OPS;
    return RIDGE_OK;
}

/* Shares sum to nearly 1 or 100; what is missing of it is idle. */
static double whole_us(const table *t)
{
    enum { PERCENT_LEAST = 2 };
    const double shares = t->shares > PERCENT_LEAST ? t->shares / 100 : t->shares;
    const double told_us = t->at_us + t->idle_us;
    return shares > 0.5 && shares < 1 ? told_us / shares : told_us;
}

static ridge_status close_step(table *t)
{
    const ridge_str all = ridge_str_of("all devices together");
    const trace_op_key key = {
        .name = trace_store_name(t->store, ridge_str_of("the whole profile"))};
    trace_track *steps = trace_store_track(t->store, all, ridge_str_of("Steps"), false);
    if (steps == NULL)
        return ridge_fail_nomem(t->store->cx);
    steps->use = TRACE_USE_STEPS;
    trace_store_slice(t->store, steps, (trace_span){0, ns_of(whole_us(t))},
                      trace_store_op(t->store, &key), 0);
    return t->store->is_short ? ridge_fail_nomem(t->store->cx) : RIDGE_OK;
}

static ridge_status read_rows(const ridge_node *one, table *t)
{
    const ridge_node rows = ridge_json_get(one, "rows");
    const size_t n = ridge_json_size(rows);
    RIDGE_TRY(open_device(one, t));
    for (size_t i = 0; i < n; i++) {
        const ridge_node row = ridge_json_at(&rows, i);
        const ridge_node cells = ridge_json_get(&row, "c");
        read_row(t, &cells);
    }
    if (t->occurrences > OCCURRENCES_MOST)
        return ridge_fail(t->store->cx, RIDGE_E_ARG,
                          "%s operations in the table; at most %s are taken: give one "
                          "of fewer steps",
                          ridge_format_count(t->occurrences).s,
                          ridge_format_count(OCCURRENCES_MOST).s);
    return close_step(t);
}

ridge_status xprof_table_of(ridge_ctx *cx, ridge_str text, const char *path,
                            trace_store *out)
{
    ridge_node root;
    table t = {.store = out};
    RIDGE_TRY(ridge_json_parse(cx, text, path, &root));
    const bool is_list = ridge_json_kind_of(root) == RIDGE_JSON_ARRAY;
    const size_t n = is_list ? ridge_json_size(root) : 1;
    out->bytes += (int64_t)text.n;
    out->has_xla = true;
    for (size_t i = 0; i < n; i++) {
        const ridge_node one = is_list ? ridge_json_at(&root, i) : root;
        if (find_columns(&one, &t))
            return read_rows(&one, &t);
    }
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: a table that XProf computed, without times of operations: "
                      "give its hlo_stats, roofline_model or framework_op_stats, or "
                      "the profile that it was made from (.xplane.pb, "
                      "trace.json.gz); of memory: ridge hlo FILE",
                      path);
}

ridge_status xprof_table_read(ridge_ctx *cx, const char *path, trace_store *out)
{
    ridge_str text;
    const char *fault = NULL;
    RIDGE_TRY(ridge_file_read_unpacked(cx, path, TABLE_BYTES_MOST, &fault, &text));
    const ridge_status st = xprof_table_of(cx, text, path, out);
    if (st != RIDGE_OK && fault != NULL)
        ridge_ctx_note(cx, "%s", fault);
    return st;
}
