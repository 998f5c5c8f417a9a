/*
 * Ridge's ground floor: one request (ctx), status, memory, strings, units,
 * number formatting, JSON, tables, charts of progress, threads.
 * Knows nothing of chips, models or networks.
 */
#ifndef RIDGE_BASE_H
#define RIDGE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RIDGE_VERSION "0.1.0"

#if defined(__GNUC__)
#    define RIDGE_NODISCARD         __attribute__((warn_unused_result))
#    define RIDGE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#    define RIDGE_NODISCARD
#    define RIDGE_PRINTF(fmt, args)
#endif

#define RIDGE_COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- status ------------------------------------------------------------ */

/* clang-format off */
#define RIDGE_STATUS_LIST(X)                     \
    X(OK, "success")                             \
    X(E_ARG, "argument outside the contract")    \
    X(E_PARSE, "malformed input")                \
    X(E_NOTFOUND, "unknown name")                \
    X(E_NOMEM, "memory budget exhausted")        \
    X(E_IO, "read or write refused")             \
    X(E_CANCELLED, "cancelled by the caller")    \
    X(E_INTERNAL, "broken invariant")
/* clang-format on */

typedef enum ridge_status {
#define RIDGE_STATUS_ENUM(name, text) RIDGE_##name,
    RIDGE_STATUS_LIST(RIDGE_STATUS_ENUM)
#undef RIDGE_STATUS_ENUM
} ridge_status;

/** @return a static English phrase for @p st; never NULL. */
const char *ridge_status_text(ridge_status st);

/** Forward a failure to the caller; the callee has written the message. */
#define RIDGE_TRY(expr)                                                                \
    do {                                                                               \
        ridge_status ridge_try_st_ = (expr);                                           \
        if (ridge_try_st_ != RIDGE_OK)                                                 \
            return ridge_try_st_;                                                      \
    } while (0)

/* ---- request context and memory ---------------------------------------- */

/** One request: its arenas, its message, its cancel flag. One thread, one ctx. */
typedef struct ridge_ctx ridge_ctx;

/** A growing block of memory, freed as a whole. */
typedef struct ridge_arena ridge_arena;

/** A position in an arena to which it can be rewound. */
typedef struct ridge_mark {
    size_t chunk;
    size_t used;
    size_t total;
} ridge_mark;

/** @return a new ctx with the default budget (4 GiB), or NULL when out of memory. */
ridge_ctx *ridge_ctx_open(void);

/**
 * @param budget_bytes  most bytes its arenas may hold together
 * @return a new ctx, or NULL when out of memory
 */
ridge_ctx *ridge_ctx_open_budget(size_t budget_bytes);

/** Free everything that the ctx owns, running deferred calls last-in first-out.
 * @param cx  may be NULL */
void ridge_ctx_close(ridge_ctx *cx);

/** @return the message of the last failure, "" if none; one line, no control
 * characters. Borrowed from the ctx, and changed by its next failure. */
const char *ridge_ctx_message(const ridge_ctx *cx);

/** Forget the message, and that JSON was lost for want of memory; arenas are kept. */
void ridge_ctx_clear(ridge_ctx *cx);

/** Ask the work under way to stop, for good. @threads any, and signal handlers */
void ridge_ctx_cancel(ridge_ctx *cx);
bool ridge_ctx_is_cancelled(const ridge_ctx *cx);

/**
 * Record what went wrong: "what is wrong: how to mend it", one line.
 * Control characters of the message are replaced, so that hostile input cannot
 * break the line. A message beyond 2047 bytes is cut. The last message may be among the
 * arguments.
 * @return @p st, to be returned by the caller
 */
RIDGE_NODISCARD RIDGE_PRINTF(3, 4) ridge_status
    ridge_fail(ridge_ctx *cx, ridge_status st, const char *fmt, ...);

/** Prepend "context: " to the recorded message. */
RIDGE_PRINTF(2, 3) void ridge_ctx_note(ridge_ctx *cx, const char *fmt, ...);

/** The arena whose content lives as long as the ctx. */
ridge_arena *ridge_ctx_arena(ridge_ctx *cx);

/** The arena for intermediate values; nothing that is returned may point into it. */
ridge_arena *ridge_ctx_scratch(ridge_ctx *cx);

/** Call fn(payload) when the ctx closes, before its arenas are freed.
 * @errors E_NOMEM (fn is then called at once) */
RIDGE_NODISCARD ridge_status ridge_ctx_defer(ridge_ctx *cx, void (*fn)(void *),
                                             void *payload);

/** @return zeroed memory for n items of size bytes, aligned for any type; NULL when the
 * product overflows or the budget is spent. Of no items: a pointer that is not read.
 * @owner the arena: until it is rewound or its ctx closes */
void *ridge_arena_new(ridge_arena *arena, size_t n, size_t size);

/** Zeroed memory for n values of type T, or NULL once the budget is spent. */
#define ridge_new(arena, T, n) ((T *)ridge_arena_new((arena), (n), sizeof(T)))

/** @return where the arena stands now */
ridge_mark ridge_arena_mark(const ridge_arena *arena);
/** Free what was taken since @p mark; of several marks the youngest comes first. */
void ridge_arena_rewind(ridge_arena *arena, ridge_mark mark);

/** ridge_fail with the text of an exhausted budget. */
RIDGE_NODISCARD ridge_status ridge_fail_nomem(ridge_ctx *cx);

/* ---- strings ------------------------------------------------------------ */

/** A view of characters, not NUL-terminated; the owner outlives the view. */
typedef struct ridge_str {
    const char *p;
    size_t n;
} ridge_str;

/** A view of a NUL-terminated text; of nothing for NULL. */
ridge_str ridge_str_of(const char *z);
/** Byte by byte; letter case counts. */
bool ridge_str_equal(ridge_str a, ridge_str b);
bool ridge_str_is(ridge_str a, const char *z);
/** Without the spaces, tabs and line ends at both ends. */
ridge_str ridge_str_trim(ridge_str s);

/** What stands behind the mark of byte order that some editors put before UTF-8. */
ridge_str ridge_str_without_mark(ridge_str s);

/**
 * Split off what stands before the first @p sep.
 * @param rest  in: the text; out: what follows the separator (p NULL: nothing did)
 * @return the part before it
 */
ridge_str ridge_str_cut(ridge_str *rest, char sep);

/** @return a NUL-terminated copy in @p arena, or NULL once the budget is spent. */
const char *ridge_str_dup(ridge_arena *arena, ridge_str s);

/** @return formatted text in @p arena, or NULL once the budget is spent. */
RIDGE_PRINTF(2, 3) const char *ridge_sprintf(ridge_arena *arena, const char *fmt, ...);

/** Text that grows. Once memory is short it stops growing and says so. */
typedef struct ridge_buf {
    ridge_arena *arena;
    char *p; /* NUL-terminated once anything was appended */
    size_t n;
    size_t cap;
    bool is_short; /* something was lost for want of memory */
} ridge_buf;

/** An empty text that will grow in @p arena; nothing is taken yet. */
void ridge_buf_init(ridge_buf *b, ridge_arena *arena);
/* Appending, whole or not at all. What is appended may be the buffer's own text. */
void ridge_buf_add(ridge_buf *b, ridge_str s);
void ridge_buf_puts(ridge_buf *b, const char *z);
void ridge_buf_pad(ridge_buf *b, char c, size_t n); /* c, n times */
RIDGE_PRINTF(2, 3) void ridge_buf_printf(ridge_buf *b, const char *fmt, ...);
/* Foreign text for a terminal: what it would obey or not show is spelt out (\x1b). */
void ridge_buf_printable(ridge_buf *b, const char *text);
/** @return the text so far, never NULL. Borrowed from the arena until the next append.
 */
const char *ridge_buf_text(const ridge_buf *b);

/** Columns that a UTF-8 text takes on a terminal: one a character, wide ones too. */
size_t ridge_text_width(const char *z);

/**
 * The known names nearest to a misspelt one, best first; among equals in the order of
 * @p names. Letter case does not count; names beyond 64 bytes are no one's neighbours.
 * @param names  n names; NULL entries are skipped
 * @param most   how many are wanted; at most 16 are given
 * @param out    up to @p most borrowed pointers from @p names
 * @return how many were near enough to suggest
 */
size_t ridge_nearest_names(const char *name, const char *const *names, size_t n,
                           size_t most, const char **out);

/** "did you mean a, b or c?" from the nearest names, or "" (none is near, or the budget
 * is spent); lives in @p arena. Never NULL. */
const char *ridge_suggestion(ridge_arena *arena, const char *name,
                             const char *const *names, size_t n);

/**
 * Fail with "unknown KIND 'TEXT': use A, B or C; did you mean B?".
 * @param kind   of name, "number format"
 * @param names  n names that would do
 * @return @p status
 */
RIDGE_NODISCARD ridge_status ridge_fail_name(ridge_ctx *cx, ridge_status status,
                                             const char *kind, const char *text,
                                             const char *const *names, size_t n);

/* ---- numbers -------------------------------------------------------------- */

#define RIDGE_KB     1e3
#define RIDGE_MB     1e6
#define RIDGE_GB     1e9
#define RIDGE_KIB    1024.0
#define RIDGE_MIB    1048576.0
#define RIDGE_GIB    1073741824.0
#define RIDGE_HOUR_S 3600.0
#define RIDGE_DAY_S  86400.0

/** @return false if a * b does not fit; *out is then untouched. */
bool ridge_mul_i64(int64_t a, int64_t b, int64_t *out);
/** @return false if a + b does not fit; *out is then untouched. */
bool ridge_add_i64(int64_t a, int64_t b, int64_t *out);

/** ceil(a / b) for a >= 0, b > 0. */
int64_t ridge_ceil_div(int64_t a, int64_t b);

/** The whole of a text as a decimal integer with an optional sign, in any locale; no
 * white space. @return false if malformed or out of range; *out is then untouched */
bool ridge_parse_i64(ridge_str s, int64_t *out);
/** The same as a decimal with an optional point and exponent: 1.5, .5, 1., 1e-3. Exact
 * to one unit in the last place; too small is 0. No hexadecimal, no "inf", no "nan".
 * @return false if malformed or not finite; *out is then untouched */
bool ridge_parse_double(ridge_str s, double *out);

/**
 * A count with an optional SI or binary suffix: 4096, 16e6, 4M, 15T, 4Mi, 1.5k. B and G
 * are both 1e9. Spaces may stand around the number and the suffix.
 * @return false if malformed, negative or not finite; *out is then untouched
 */
bool ridge_parse_count(ridge_str s, double *out);

/** A size in bytes: 1GiB, 16MB, 512 (bytes), 64KiB; up to PB and PiB. MB is 1e6, MiB is
 * 2^20. @return false if malformed, negative or not finite; *out is then untouched */
bool ridge_parse_bytes(ridge_str s, double *out);

/** A share: 5%, 0.05. @return false if malformed, negative or not finite; *out is then
 * untouched */
bool ridge_parse_fraction(ridge_str s, double *out);

/** Short text by value: usable directly in a printf argument as f(x).s
 * Three significant digits unless said otherwise, a point in any locale; an exponent
 * where that would be too long or too small; "n/a" for NaN, "inf" and "-inf"; no zero
 * is negative. @threads any */
typedef struct ridge_text {
    char s[48];
} ridge_text;

ridge_text ridge_format_seconds(double s);              /* 1.2 ms, 3.4 s, 2.1 h */
ridge_text ridge_format_bytes(double bytes);            /* 3.4 GiB */
ridge_text ridge_format_si(double v, const char *unit); /* 459 TFLOP/s */
ridge_text ridge_format_count(double v);                /* 70.6 B, 8,960 below 1e6 */
ridge_text ridge_format_exact(int64_t v);               /* 70,553,706,496 */
ridge_text ridge_format_sci(double v);                  /* 4.59e14 */
ridge_text ridge_format_percent(double fraction);       /* 43.1 % */
ridge_text ridge_format_usd(double usd);                /* $1.23, $1,235, $4.5 M */
ridge_text ridge_format_double(double v);               /* 4 significant digits */

/* ---- JSON ------------------------------------------------------------------ */

typedef enum ridge_json_kind {
    RIDGE_JSON_NULL,
    RIDGE_JSON_BOOL,
    RIDGE_JSON_NUMBER,
    RIDGE_JSON_STRING,
    RIDGE_JSON_ARRAY,
    RIDGE_JSON_OBJECT
} ridge_json_kind;

/** A value of a document; lives as long as the ctx in which it was read or made. */
typedef struct ridge_json ridge_json;

/**
 * A value and where it stands, so that a complaint can name file and line.
 * Cheap to copy. path is "a.b[3]" from the document's root.
 */
typedef struct ridge_json_doc ridge_json_doc;
typedef struct ridge_node {
    const ridge_json *value; /* NULL: absent */
    const ridge_json_doc *doc;
    const struct ridge_node *parent; /* for the path; NULL at the root */
    const char *key;                 /* member name, or NULL */
    size_t index;                    /* position in an array, if key is NULL */
} ridge_node;

/** Whole file as text in the ctx's arena, with a NUL behind it. Refuses folders and
 * more than @p most bytes. A pipe or a device is read to its end.
 * @param out  the bytes as they are: not checked to be UTF-8, may hold NULs
 * @owner the ctx: until it closes
 * @errors E_IO with the path and the reason; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_file_read(ridge_ctx *cx, const char *path,
                                             size_t most_bytes, ridge_str *out);

/** Write a file, replacing it whole or not at all: the text is written to a new file
 * beside it, which then takes its name (a link is replaced, not followed). A pipe or a
 * device is written in place; "-" is stdout.
 * @errors E_IO with the path and the reason; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_file_write(ridge_ctx *cx, const char *path,
                                              ridge_str text);

/* Links are followed; what may not be looked at is not there. */
bool ridge_path_is_dir(const char *path);
bool ridge_path_exists(const char *path);

/**
 * Parse one JSON document (RFC 8259; at most 2048 levels; of equal keys the last
 * counts). Also takes the bare words NaN and Infinity, which Python writes, as null;
 * integers beyond 64 bits as reals; a byte order mark. Refuses the character U+0000.
 * @param text  borrowed: outlives the nodes, which find their lines in it
 * @param file  name for messages; copied
 * @owner the ctx: until it closes; its values count against the budget
 * @errors E_PARSE with file:line:column; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_json_parse(ridge_ctx *cx, ridge_str text,
                                              const char *file, ridge_node *out);
/** The same from a file of at most 256 MiB. @errors E_IO; E_PARSE; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_json_read(ridge_ctx *cx, const char *path,
                                             ridge_node *out);

ridge_json_kind ridge_json_kind_of(ridge_node n); /* absent counts as null */
bool ridge_json_is_absent(ridge_node n);          /* no such member, or null */
size_t ridge_json_size(ridge_node n);             /* items or members; 0 otherwise */

/** Member or item, absent if there is none. @p parent must outlive the result. */
ridge_node ridge_json_get(const ridge_node *parent, const char *key);
ridge_node ridge_json_at(const ridge_node *parent, size_t index);
/** Member by position, in file order; its name is in .key, NULL when there is none.
 * Its cost grows with @p index: walk many members with ridge_json_member_after. */
ridge_node ridge_json_member(const ridge_node *parent, size_t index);
/** The member behind @p member of the same parent, in file order; .key is NULL after
 * the last one. Its cost does not depend on the size of the object. */
ridge_node ridge_json_member_after(const ridge_node *parent, ridge_node member);

/** Values without complaint. A text is UTF-8 with a NUL, borrowed from the document.
 * @return false if it is of another kind (or absent); *out is then untouched */
bool ridge_json_bool(ridge_node n, bool *out);
bool ridge_json_double(ridge_node n, double *out);
bool ridge_json_i64(ridge_node n, int64_t *out); /* also integral reals, to 2^53 */
bool ridge_json_text(ridge_node n, const char **out);

/** Fail with "file:line: path: ..." for the place of @p n; for what is absent, that of
 * what should hold it. @return E_PARSE */
RIDGE_NODISCARD RIDGE_PRINTF(3, 4) ridge_status
    ridge_json_fail(ridge_ctx *cx, ridge_node n, const char *fmt, ...);

/** Fail unless @p object is one and every member's name is in @p known.
 * @errors E_PARSE with the member's place and the nearest names */
RIDGE_NODISCARD ridge_status ridge_json_only(ridge_ctx *cx, ridge_node object,
                                             const char *const *known, size_t n);

/** Required values, checked: low <= value <= high. *out is written only on success; a
 * text is borrowed from the document.
 * @errors E_PARSE with the place, what is wanted and what was found */
RIDGE_NODISCARD ridge_status ridge_json_want_text(ridge_ctx *cx, ridge_node n,
                                                  const char **out);
RIDGE_NODISCARD ridge_status ridge_json_want_double(ridge_ctx *cx, ridge_node n,
                                                    double low, double high,
                                                    double *out);
RIDGE_NODISCARD ridge_status ridge_json_want_i64(ridge_ctx *cx, ridge_node n,
                                                 int64_t low, int64_t high,
                                                 int64_t *out);

/* Building. Objects keep the order of insertion, and a key set again keeps its place;
 * NaN and infinities become null, as does the text NULL. Keys and texts are copied;
 * text that is no UTF-8 has its bytes beyond ASCII replaced by '?'. Setting in NULL
 * does nothing. Values live until the ctx closes, and may be set in several places, but
 * not in themselves. Returns NULL when memory is short, which the ctx remembers until
 * ridge_ctx_clear: ridge_json_write then returns E_NOMEM. */
ridge_json *ridge_json_object(ridge_ctx *cx);
ridge_json *ridge_json_array(ridge_ctx *cx);
void ridge_json_set(ridge_json *object, const char *key, ridge_json *value);
void ridge_json_set_double(ridge_json *object, const char *key, double v);
/** A number that is not known where it is 0: above it the number, else null. */
void ridge_json_set_positive(ridge_json *object, const char *key, double v);
void ridge_json_set_i64(ridge_json *object, const char *key, int64_t v);
void ridge_json_set_bool(ridge_json *object, const char *key, bool v);
void ridge_json_set_text(ridge_json *object, const char *key, const char *z);
void ridge_json_set_null(ridge_json *object, const char *key);
void ridge_json_push(ridge_json *array, ridge_json *value);
void ridge_json_push_double(ridge_json *array, double v);
void ridge_json_push_i64(ridge_json *array, int64_t v);
void ridge_json_push_text(ridge_json *array, const char *z);
ridge_json *ridge_json_set_object(ridge_ctx *cx, ridge_json *object, const char *key);
ridge_json *ridge_json_set_array(ridge_ctx *cx, ridge_json *object, const char *key);
ridge_json *ridge_json_push_object(ridge_ctx *cx, ridge_json *array);

/** Append the text of a built or read value: reals with 12 significant digits, integers
 * exact, two-space indent, a line end. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_json_write(ridge_ctx *cx, const ridge_json *value,
                                              ridge_buf *out);

/* ---- tables ------------------------------------------------------------------ */

typedef enum ridge_align { RIDGE_ALIGN_LEFT, RIDGE_ALIGN_RIGHT } ridge_align;

/** Rows of aligned text. Cells are copied. */
typedef struct ridge_table ridge_table;

/** @return a table in @p arena, or NULL once the budget is spent. */
ridge_table *ridge_table_new(ridge_arena *arena);
/** Columns come before cells; at most 32, more are left out. */
void ridge_table_column(ridge_table *t, const char *title, ridge_align align);
/** Append a cell; a row is full after one cell per column. NULL table is a no-op.
 * @param z  UTF-8, its control characters replaced by '?'; NULL: blank */
void ridge_table_cell(ridge_table *t, const char *z);
/** The same of formatted text, cut at 511 bytes. */
RIDGE_PRINTF(2, 3) void ridge_table_cellf(ridge_table *t, const char *fmt, ...);
/** A line between rows; it ends a row that is not full. */
void ridge_table_rule(ridge_table *t);
/** What a table holds, for other ways to show it. at and index from 0; a rule's cells
 * are NULL. */
size_t ridge_table_columns(const ridge_table *t);
size_t ridge_table_rows(const ridge_table *t);
const char *ridge_table_title(const ridge_table *t, size_t index);
ridge_align ridge_table_alignment(const ridge_table *t, size_t index);
const char *ridge_table_get(const ridge_table *t, size_t at, size_t index);
/** Append the table: titles (unless all are ""), then the rows.
 * @param indent       spaces before each line
 * @param with_colour  titles in bold, by a terminal's codes
 * @param out          its is_short is set when the table is NULL or short of memory */
void ridge_table_write(const ridge_table *t, size_t indent, bool with_colour,
                       ridge_buf *out);

/* ---- progress and threads ------------------------------------------------------ */

/** A bar on a terminal's stderr, shown only once two seconds have passed. */
typedef struct ridge_progress {
    FILE *stream; /* NULL: silent */
    double start_s;
    double last_s;
    bool is_shown;
} ridge_progress;

/** @param stream  where to draw if it is a terminal; otherwise nothing is drawn */
ridge_progress ridge_progress_start(FILE *stream);
/** Draw the bar, at most ten times a second.
 * @param fraction  0 to 1
 * @param what      a few words behind it */
void ridge_progress_show(ridge_progress *p, double fraction, const char *what);
/** Wipe the bar. */
void ridge_progress_end(ridge_progress *p);

/** Seconds on a clock that never goes back. */
double ridge_clock_s(void);

/** Processors that are there; 1 to 64. */
int ridge_processor_count(void);

/**
 * Run fn(payload, item, worker) for item = 0 .. items-1 on a pool of threads.
 * Items are handed out in order; a worker's own results are merged by the caller in
 * a fixed order, so that the answer does not depend on the thread count.
 * @param workers  threads, 1 to 64 (beyond: the nearest of these); the caller is the
 *                 first of them, and does it all when no other can be started
 * @param fn       worker is below @p workers. It may not use the arenas of @p cx
 * @errors E_CANCELLED: some items may not have been done
 */
RIDGE_NODISCARD ridge_status ridge_parallel(ridge_ctx *cx, int workers, int64_t items,
                                            void (*fn)(void *payload, int64_t item,
                                                       int worker),
                                            void *payload);

/** For what several threads may fill in later; its holder may take it again. */
typedef struct ridge_lock ridge_lock;

/** @owner the ctx: valid until it closes. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_lock_open(ridge_ctx *cx, ridge_lock **out);
/* @threads any; each take by a thread has its give by the same one. */
void ridge_lock_take(ridge_lock *lock);
void ridge_lock_give(ridge_lock *lock);

#ifdef __cplusplus
}
#endif

#endif
