/*
 * A file of requests as a stream: lines are read ahead into a window, from which they
 * leave in order of arrival. What arrives before the one that left last stood too far
 * from its place, and is an error.
 */
#include "request_file.h"

#include <math.h>
#include <string.h>

#include "latency_times.h"
#include "request_record.h"

enum { WINDOW = 1024, WINDOW_MAX = 1 << 20, PIECE_TOKENS = 16 };

/* Lines in a row without an answered request, after which no more are expected. */
enum { SILENT_LINES_MOST = 1000000 };

/* Between a request and the first line's: a trace of thirty years has other units. */
static const double SPAN_MOST_S = 1e9;

/* A line in the window. */
typedef struct window_row {
    double arrival_s; /* as it stands there */
    int64_t line;
    int64_t prompt, output;
    int64_t hash_tokens, n_hashes;
    uint64_t *hashes;
    int64_t room; /* of hashes */
} window_row;

struct ridge_request_file {
    ridge_ctx *cx;
    ridge_status status;
    const char *path;
    ridge_request_file_options options;
    request_lines lines;
    request_columns columns;
    request_record record;
    ridge_request_file_note note;
    latency_times measured;
    window_row *rows; /* [window + 1], the last one is out */
    int32_t *heap;    /* [window] rows by arrival, then line */
    int32_t *spare;   /* [window + 1] rows that are free */
    int n_heap, n_spare;
    int32_t given; /* row that was taken last; -1: none */
    bool is_end;
    bool has_first, has_read;
    double first_s;         /* arrival of the first in the file */
    double start_s;         /* arrival of its first line */
    int64_t silent_lines;   /* without an answered request, in a row */
    double read_s, given_s; /* of the row read last, and the row given last */
    int64_t read_line, given_line;
};

static const char *const format_texts[] = {
#define FORMAT_TEXT(name, text, what) text,
    RIDGE_REQUEST_FORMAT_LIST(FORMAT_TEXT)
#undef FORMAT_TEXT
};

const char *ridge_request_format_text(ridge_request_format format)
{
    return format_texts[format];
}

/* ---- the window ------------------------------------------------------------------ */

static bool is_before(const ridge_request_file *f, int32_t a, int32_t b)
{
    const window_row *x = &f->rows[a], *y = &f->rows[b];
    return x->arrival_s < y->arrival_s ||
           (x->arrival_s == y->arrival_s && x->line < y->line);
}

static void push_row(ridge_request_file *f, int32_t row)
{
    int at = f->n_heap++;
    for (; at > 0 && is_before(f, row, f->heap[(at - 1) / 2]); at = (at - 1) / 2)
        f->heap[at] = f->heap[(at - 1) / 2];
    f->heap[at] = row;
}

static int32_t pop_row(ridge_request_file *f)
{
    const int32_t top = f->heap[0];
    const int32_t last = f->heap[--f->n_heap];
    int at = 0;
    for (int child = 1; child < f->n_heap; child = 2 * at + 1) {
        if (child + 1 < f->n_heap && is_before(f, f->heap[child + 1], f->heap[child]))
            child++;
        if (!is_before(f, f->heap[child], last))
            break;
        f->heap[at] = f->heap[child];
        at = child;
    }
    f->heap[at] = last;
    return top;
}

/* ---- lines ----------------------------------------------------------------------- */

static ridge_status parse_line(ridge_request_file *f, ridge_str line)
{
    request_record *r = &f->record;
    r->n_hashes = 0;
    r->has_times = false;
    if (f->note.format != RIDGE_REQUEST_FORMAT_CSV)
        return ridge__request_json_read(f->cx, &f->lines, f->note.format, line,
                                        f->options.tokens_a_piece, r);
    return ridge__request_csv_read(f->cx, &f->lines, &f->columns, line, r);
}

static ridge_status copy_hashes(ridge_request_file *f, window_row *row)
{
    const request_record *r = &f->record;
    const int64_t whole = r->hash_tokens > 0 ? row->prompt / r->hash_tokens : 0;
    row->hash_tokens = r->hash_tokens;
    row->n_hashes = r->n_hashes < whole ? r->n_hashes : whole;
    if (row->n_hashes > row->room) {
        row->room = row->n_hashes + row->n_hashes / 2;
        row->hashes = ridge_new(ridge_ctx_arena(f->cx), uint64_t, (size_t)row->room);
        if (row->hashes == NULL)
            return ridge_fail_nomem(f->cx);
    }
    if (row->n_hashes > 0)
        memcpy(row->hashes, r->hashes, (size_t)row->n_hashes * sizeof *row->hashes);
    return RIDGE_OK;
}

static void note_times(ridge_request_file *f)
{
    const request_record *r = &f->record;
    if (!r->has_times || !(r->last_s >= r->first_s))
        return;
    f->note.measured++;
    ridge_latency_add(&f->measured.ttft, r->first_s, 1);
    ridge_latency_add(&f->measured.e2e, r->last_s, 1);
    if (r->output > 1)
        ridge_latency_add(&f->measured.tpot, (r->last_s - r->first_s) / (r->output - 1),
                          1);
}

static ridge_status check_order(ridge_request_file *f, double arrival_s)
{
    if (arrival_s >= f->read_s)
        return RIDGE_OK;
    if (f->options.refuses_disorder)
        return ridge__lines_fail(
            f->cx, &f->lines, "arrives %s before line %lld: sort the file by arrival",
            ridge_format_seconds(f->read_s - arrival_s).s, (long long)f->read_line);
    if (arrival_s < f->given_s)
        return ridge__lines_fail(f->cx, &f->lines,
                                 "arrives %s before line %lld, more than %lld lines "
                                 "back: sort the file by arrival",
                                 ridge_format_seconds(f->given_s - arrival_s).s,
                                 (long long)f->given_line,
                                 (long long)f->options.window);
    f->note.moved++;
    return RIDGE_OK;
}

/* Of units that were meant otherwise, or of no time at all. */
static ridge_status check_span(ridge_request_file *f, double arrival_s)
{
    if (!f->has_read)
        f->start_s = arrival_s;
    f->has_read = true;
    return fabs(arrival_s - f->start_s) <= SPAN_MOST_S && isfinite(arrival_s)
               ? RIDGE_OK
               : ridge__lines_fail(f->cx, &f->lines,
                                   "arrives %.3g s from the first line's: check the "
                                   "unit of its time",
                                   arrival_s - f->start_s);
}

/* Pieces of another length than the format's would be shared by chance. */
static ridge_status check_hashes(ridge_request_file *f)
{
    const request_record *r = &f->record;
    const double most =
        r->hash_tokens > 0 ? ceil(r->prompt / (double)r->hash_tokens) : 0;
    return r->n_hashes == 0 || (double)r->n_hashes <= fmax(1, most)
               ? RIDGE_OK
               : ridge__lines_fail(f->cx, &f->lines,
                                   "%lld pieces of %lld tokens (hash_ids, "
                                   "input_tok_ids) for a prompt of %.0f tokens",
                                   (long long)r->n_hashes, (long long)r->hash_tokens,
                                   r->prompt);
}

/* The record into the window. */
static ridge_status keep_record(ridge_request_file *f)
{
    const request_record *r = &f->record;
    const double arrival_s = f->note.has_arrivals ? r->arrival_s : 0;
    RIDGE_TRY(check_span(f, arrival_s));
    RIDGE_TRY(check_hashes(f));
    RIDGE_TRY(check_order(f, arrival_s));
    f->silent_lines = 0;
    f->read_s = fmax(f->read_s, arrival_s);
    f->read_line = f->lines.number;
    const int32_t at = f->spare[--f->n_spare];
    window_row *row = &f->rows[at];
    row->arrival_s = arrival_s;
    row->line = f->lines.number;
    row->prompt = r->prompt < 1 ? 1 : (int64_t)r->prompt;
    row->output = (int64_t)r->output;
    RIDGE_TRY(copy_hashes(f, row));
    push_row(f, at);
    return RIDGE_OK;
}

/* A request without an answer; a stream of nothing else would not end. */
static ridge_status skip_record(ridge_request_file *f)
{
    f->note.unanswered++;
    if (++f->silent_lines < SILENT_LINES_MOST)
        return RIDGE_OK;
    return ridge__lines_fail(f->cx, &f->lines,
                             "%d lines in a row without a token of output: is this the "
                             "right file?",
                             SILENT_LINES_MOST);
}

static ridge_status read_line(ridge_request_file *f)
{
    ridge_str line;
    bool has;
    RIDGE_TRY(ridge__lines_next(f->cx, &f->lines, &line, &has));
    f->is_end = !has;
    if (!has)
        return RIDGE_OK;
    f->note.lines = f->lines.number;
    RIDGE_TRY(parse_line(f, line));
    if (f->record.output < 1)
        return skip_record(f);
    note_times(f);
    return keep_record(f);
}

static ridge_status fill_window(ridge_request_file *f)
{
    while (!f->is_end && f->n_heap < (int)f->options.window)
        RIDGE_TRY(read_line(f));
    return RIDGE_OK;
}

/* ---- the source ------------------------------------------------------------------ */

static bool is_over(const ridge_request_file *f)
{
    return f->status != RIDGE_OK || f->n_heap == 0 ||
           (f->options.most > 0 && f->note.requests >= f->options.most);
}

static ridge_status check_any(ridge_request_file *f)
{
    if (f->note.requests > 0 || f->n_heap > 0)
        return RIDGE_OK;
    if (f->note.unanswered == 0)
        return ridge_fail(f->cx, RIDGE_E_PARSE, "%s: holds no requests", f->path);
    return ridge_fail(
        f->cx, RIDGE_E_PARSE,
        "%s: holds no requests with an answer: all %lld have no tokens of "
        "output",
        f->path, (long long)f->note.unanswered);
}

/* From the first request, in the time that is played. */
static double played_s(const ridge_request_file *f, const window_row *row)
{
    return (row->arrival_s - f->first_s) / f->options.speed;
}

static double peek_file(void *self)
{
    ridge_request_file *f = self;
    if (f->status == RIDGE_OK)
        f->status = fill_window(f);
    if (f->status == RIDGE_OK && f->is_end)
        f->status = check_any(f);
    if (is_over(f))
        return (double)INFINITY;
    if (!f->has_first) {
        f->has_first = true;
        f->first_s = f->rows[f->heap[0]].arrival_s;
    }
    const double at = played_s(f, &f->rows[f->heap[0]]);
    return f->options.most_s > 0 && at > f->options.most_s ? (double)INFINITY : at;
}

static ridge_status take_file(void *self, ridge_request *out)
{
    ridge_request_file *f = self;
    if (f->given >= 0)
        f->spare[f->n_spare++] = f->given;
    f->given = pop_row(f);
    const window_row *row = &f->rows[f->given];
    f->given_s = row->arrival_s;
    f->given_line = row->line;
    *out = (ridge_request){.arrival_s = played_s(f, row),
                           .prompt_tokens = row->prompt,
                           .output_tokens = row->output,
                           .tag = f->note.requests,
                           .hash_tokens = row->hash_tokens,
                           .n_hashes = row->n_hashes,
                           .hashes = row->hashes};
    f->note.requests++;
    return RIDGE_OK;
}

static ridge_status file_status(void *self)
{
    return ((ridge_request_file *)self)->status;
}

ridge_request_source ridge_request_file_source(ridge_request_file *file)
{
    return (ridge_request_source){
        .self = file, .peek_s = peek_file, .take = take_file, .status = file_status};
}

const ridge_request_file_note *ridge_request_file_about(const ridge_request_file *file)
{
    return &file->note;
}

ridge_status ridge__request_file_next(ridge_request_file *file, ridge_request *out,
                                      bool *has)
{
    *has = isfinite(peek_file(file));
    RIDGE_TRY(file->status);
    return *has ? take_file(file, out) : RIDGE_OK;
}

/* ---- opening --------------------------------------------------------------------- */

/* The first line tells the format; a header is used up, a record is kept. */
static ridge_status tell_format(ridge_request_file *f)
{
    ridge_str line;
    bool has;
    RIDGE_TRY(ridge__lines_next(f->cx, &f->lines, &line, &has));
    if (!has)
        return ridge_fail(f->cx, RIDGE_E_PARSE, "%s: holds no requests", f->path);
    if (ridge__request_columns(line, &f->columns)) {
        f->note.format = RIDGE_REQUEST_FORMAT_CSV;
        f->note.columns = f->columns.origin;
        f->note.has_arrivals = f->columns.arrival >= 0;
        return RIDGE_OK;
    }
    if (!ridge__request_json_format(line, &f->note.format))
        return ridge__lines_fail(
            f->cx, &f->lines,
            "neither columns of requests (arrival_s,prompt_tokens,output_tokens; "
            "Azure's, BurstGPT's, vidur's) nor JSON lines with input_length or "
            "input_toks");
    f->note.columns = format_texts[f->note.format];
    f->note.has_arrivals = true;
    RIDGE_TRY(parse_line(f, line));
    f->note.lines = 1;
    if (f->record.output < 1)
        return skip_record(f);
    note_times(f);
    return keep_record(f);
}

static ridge_status reserve(ridge_request_file *f)
{
    ridge_arena *arena = ridge_ctx_arena(f->cx);
    const size_t n = (size_t)f->options.window;
    f->rows = ridge_new(arena, window_row, n + 1);
    f->heap = ridge_new(arena, int32_t, n);
    f->spare = ridge_new(arena, int32_t, n + 1);
    if (f->rows == NULL || f->heap == NULL || f->spare == NULL)
        return ridge_fail_nomem(f->cx);
    for (size_t i = 0; i <= n; i++)
        f->spare[f->n_spare++] = (int32_t)(n - i);
    return RIDGE_OK;
}

static ridge_status check_options(ridge_ctx *cx, ridge_request_file_options *o)
{
    if (o->speed == 0)
        o->speed = 1;
    if (o->window == 0)
        o->window = WINDOW;
    if (o->tokens_a_piece == 0)
        o->tokens_a_piece = PIECE_TOKENS;
    if (!(o->speed > 0) || !isfinite(o->speed) || o->window < 1 ||
        o->window > WINDOW_MAX || o->tokens_a_piece < 1 || o->most < 0 ||
        !(o->most_s >= 0))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a file of requests is read with a speed above 0 and a "
                          "window of 1 to %d lines",
                          WINDOW_MAX);
    return RIDGE_OK;
}

ridge_status ridge_request_file_open(ridge_ctx *cx, const char *path,
                                     const ridge_request_file_options *options,
                                     ridge_request_file **out)
{
    ridge_request_file *f = ridge_new(ridge_ctx_arena(cx), ridge_request_file, 1);
    if (f == NULL)
        return ridge_fail_nomem(cx);
    f->cx = cx;
    f->path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(path));
    f->options = *options;
    f->given = -1;
    f->read_s = f->given_s = -(double)INFINITY;
    f->note.measured_ttft = &f->measured.ttft;
    f->note.measured_tpot = &f->measured.tpot;
    f->note.measured_e2e = &f->measured.e2e;
    if (f->path == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(check_options(cx, &f->options));
    RIDGE_TRY(reserve(f));
    RIDGE_TRY(ridge__lines_open(cx, f->path, &f->lines));
    RIDGE_TRY(tell_format(f));
    *out = f;
    return RIDGE_OK;
}

ridge_status ridge__request_file_rewind(ridge_request_file *f)
{
    if (f->note.requests == 0)
        return ridge_fail(f->cx, RIDGE_E_PARSE, "%s: holds no requests", f->path);
    ridge_stream_close(f->lines.stream);
    RIDGE_TRY(ridge_stream_open(f->cx, f->path, &f->lines.stream));
    f->lines.at = f->lines.n = 0;
    f->lines.number = 0;
    f->lines.is_end = f->is_end = f->has_first = f->has_read = false;
    f->read_s = f->given_s = -(double)INFINITY;
    return tell_format(f);
}
