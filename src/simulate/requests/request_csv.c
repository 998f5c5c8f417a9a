/*
 * A line of comma-separated values. Columns are found by their names, letter case
 * aside:
 *
 *     Azure      TIMESTAMP, ContextTokens, GeneratedTokens
 *     BurstGPT   Timestamp, Model, Request tokens, Response tokens, …
 *     vidur      arrived_at, num_prefill_tokens, num_decode_tokens; arrived_at may lack
 *     Splitwise  arrival_timestamp, prompt_size, token_size
 *     ours       arrival_s, prompt_tokens, output_tokens
 *     others     a name of each of the three that people give them, below
 *
 * A time is a number of seconds (of milliseconds in a column that says so), or a date:
 * 2023-11-16 18:17:03.9799600, with T for the blank and a zone behind it if need be.
 */
#include "request_record.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *origin, *arrival, *prompt, *output;
} known[] = {
    {"Azure", "TIMESTAMP", "ContextTokens", "GeneratedTokens"},
    {"BurstGPT", "Timestamp", "Request tokens", "Response tokens"},
    {"vidur", "arrived_at", "num_prefill_tokens", "num_decode_tokens"},
    {"Splitwise", "arrival_timestamp", "prompt_size", "token_size"},
    {"plain", "arrival_s", "prompt_tokens", "output_tokens"},
};

/* What columns are called elsewhere, blanks, dashes and letter case aside. */
static const char *const arrivals[] = {
    "arrival_s", "arrival",     "arrival_time", "arrival_time_s",  "arrived_at",
    "timestamp", "timestamp_s", "time",         "time_s",          "start_time",
    "start_s",   "t",           "arrival_ms",   "arrival_time_ms", "timestamp_ms",
    "time_ms",   NULL};
static const char *const prompts[] = {"prompt_tokens",     "prompt",
                                      "prompt_len",        "prompt_length",
                                      "input_tokens",      "input",
                                      "input_len",         "input_length",
                                      "num_prompt_tokens", "context_tokens",
                                      "request_tokens",    "isl",
                                      "prefill_tokens",    NULL};
static const char *const outputs[] = {
    "output_tokens",     "output",           "output_len",      "output_length",
    "completion_tokens", "generated_tokens", "response_tokens", "osl",
    "num_output_tokens", "decode_tokens",    "answer_tokens",   NULL};

static bool is_name(ridge_str s, const char *name)
{
    size_t n = 0;
    while (name[n] != '\0')
        n++;
    return s.n == n && strncasecmp(s.p, name, n) == 0;
}

/* The same with blanks and dashes as underscores. */
static bool is_alike(ridge_str s, const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0' && n < s.n; n++) {
        const char c = s.p[n] == ' ' || s.p[n] == '-' ? '_' : s.p[n];
        if (strncasecmp(&c, &name[n], 1) != 0)
            return false;
    }
    return name[n] == '\0' && n == s.n;
}

static ridge_str next_cell(ridge_str *rest)
{
    ridge_str cell = ridge_str_trim(ridge_str_cut(rest, ','));
    if (cell.n >= 2 && cell.p[0] == '"' && cell.p[cell.n - 1] == '"')
        cell = (ridge_str){cell.p + 1, cell.n - 2};
    return cell;
}

static int find_column(ridge_str header, const char *name, int *n)
{
    int found = -1;
    *n = 0;
    for (ridge_str rest = header; rest.p != NULL && *n < REQUEST_COLUMNS_MAX; ++*n) {
        if (is_name(next_cell(&rest), name) && found < 0)
            found = *n;
    }
    return found;
}

/* The column that the first of some names has. @param name  out: as listed */
static int find_any(ridge_str header, const char *const *names, const char **name)
{
    for (; *names != NULL; names++) {
        int n = 0;
        for (ridge_str rest = header; rest.p != NULL && n < REQUEST_COLUMNS_MAX; n++) {
            *name = *names;
            if (is_alike(next_cell(&rest), *names))
                return n;
        }
    }
    return -1;
}

/* Names that none of the known files has. */
static bool find_others(ridge_str header, request_columns *out)
{
    const char *name = "";
    request_columns c = {.origin = "plain", .arrival_unit_s = 1};
    c.prompt = find_any(header, prompts, &name);
    c.output = find_any(header, outputs, &name);
    c.arrival = find_any(header, arrivals, &name);
    const size_t n = strlen(name);
    if (c.arrival >= 0 && n > 3 && strcmp(name + n - 3, "_ms") == 0)
        c.arrival_unit_s = 1e-3;
    for (ridge_str rest = header; rest.p != NULL && c.n < REQUEST_COLUMNS_MAX; c.n++)
        next_cell(&rest);
    if (c.prompt < 0 || c.output < 0)
        return false;
    *out = c;
    return true;
}

bool ridge__request_columns(ridge_str header, request_columns *out)
{
    header = ridge_str_without_mark(header);
    for (size_t i = 0; i < RIDGE_COUNT_OF(known); i++) {
        request_columns c = {.origin = known[i].origin, .arrival_unit_s = 1};
        c.prompt = find_column(header, known[i].prompt, &c.n);
        c.output = find_column(header, known[i].output, &c.n);
        c.arrival = find_column(header, known[i].arrival, &c.n);
        if (c.prompt >= 0 && c.output >= 0) {
            *out = c;
            return true;
        }
    }
    return find_others(header, out);
}

/* ---- dates ----------------------------------------------------------------------- */

/* Days from 1970-01-01, in the Gregorian calendar.
 * @source hinnant2013-dates, days_from_civil */
static double days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2 ? 1 : 0;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t in_era = year - era * 400;
    const int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t days = in_era * 365 + in_era / 4 - in_era / 100 + in_year;
    return (double)(era * 146097 + days - 719468);
}

/* Digits up to a separator; the rest begins behind it. */
static bool take_number(ridge_str *rest, size_t digits, const char *ends, int64_t *out)
{
    int64_t v = 0;
    if (rest->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (rest->p[i] < '0' || rest->p[i] > '9')
            return false;
        v = v * 10 + (rest->p[i] - '0');
    }
    *rest = (ridge_str){rest->p + digits, rest->n - digits};
    *out = v;
    if (ends[0] == '\0')
        return true;
    for (size_t i = 0; ends[i] != '\0'; i++) {
        if (rest->n > 0 && rest->p[0] == ends[i]) {
            *rest = (ridge_str){rest->p + 1, rest->n - 1};
            return true;
        }
    }
    return false;
}

/* "Z", "+00:00", "-0730", or nothing. */
static bool take_zone(ridge_str rest, double *zone_s)
{
    int64_t hours, minutes = 0;
    *zone_s = 0;
    if (rest.n == 0 || ridge_str_is(rest, "Z"))
        return true;
    const double sign = rest.p[0] == '-' ? -1 : 1;
    if (rest.p[0] != '+' && rest.p[0] != '-')
        return false;
    rest = (ridge_str){rest.p + 1, rest.n - 1};
    if (!take_number(&rest, 2, "", &hours))
        return false;
    if (rest.n > 0 && rest.p[0] == ':')
        rest = (ridge_str){rest.p + 1, rest.n - 1};
    if (rest.n > 0 && !take_number(&rest, 2, "", &minutes))
        return false;
    *zone_s = sign * (double)(hours * 3600 + minutes * 60);
    return rest.n == 0;
}

static bool parse_date(ridge_str s, double *out)
{
    int64_t year, month, day, hour, minute, second;
    double share = 0, unit = 0.1, zone;
    if (!take_number(&s, 4, "-", &year) || !take_number(&s, 2, "-", &month) ||
        !take_number(&s, 2, " T", &day) || !take_number(&s, 2, ":", &hour) ||
        !take_number(&s, 2, ":", &minute) || !take_number(&s, 2, "", &second))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    if (s.n > 0 && s.p[0] == '.') {
        s = (ridge_str){s.p + 1, s.n - 1};
        for (; s.n > 0 && s.p[0] >= '0' && s.p[0] <= '9'; unit /= 10) {
            share += (s.p[0] - '0') * unit;
            s = (ridge_str){s.p + 1, s.n - 1};
        }
    }
    if (!take_zone(s, &zone))
        return false;
    *out = days_of(year, month, day) * RIDGE_DAY_S - zone + share +
           (double)(hour * 3600 + minute * 60 + second);
    return true;
}

/* ---- a line ---------------------------------------------------------------------- */

static ridge_status read_count(ridge_ctx *cx, const request_lines *lines,
                               const char *what, ridge_str cell, double *out)
{
    if (!ridge_parse_double(cell, out) || *out < 0 || *out > 1e12)
        return ridge__lines_fail(cx, lines, "%s '%.*s' is not a number of tokens", what,
                                 cell.n < 40 ? (int)cell.n : 40, cell.p);
    return RIDGE_OK;
}

ridge_status ridge__request_csv_read(ridge_ctx *cx, const request_lines *lines,
                                     const request_columns *columns, ridge_str line,
                                     request_record *out)
{
    int n = 0;
    for (ridge_str rest = line; rest.p != NULL && n < REQUEST_COLUMNS_MAX; n++) {
        const ridge_str cell = next_cell(&rest);
        if (n == columns->prompt)
            RIDGE_TRY(read_count(cx, lines, "the prompt's", cell, &out->prompt));
        if (n == columns->output)
            RIDGE_TRY(read_count(cx, lines, "the output's", cell, &out->output));
        if (n == columns->arrival && ridge_parse_double(cell, &out->arrival_s))
            out->arrival_s *= columns->arrival_unit_s;
        else if (n == columns->arrival && !parse_date(cell, &out->arrival_s))
            return ridge__lines_fail(cx, lines, "'%.*s' is not a time",
                                     cell.n < 40 ? (int)cell.n : 40, cell.p);
    }
    if (n <= columns->prompt || n <= columns->output || n <= columns->arrival)
        return ridge__lines_fail(cx, lines, "%d columns, the first line names %d", n,
                                 columns->n);
    return RIDGE_OK;
}
