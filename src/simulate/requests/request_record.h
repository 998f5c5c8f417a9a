/* One line of a file of requests, as its format's reader gives it. */
#ifndef RIDGE_REQUEST_RECORD_H
#define RIDGE_REQUEST_RECORD_H

#include "ridge/simulate_requests.h"

#include "request_lines.h"

enum { REQUEST_HASHES_MAX = 1 << 16 };

/** What a line says. Times of an unknown beginning. */
typedef struct request_record {
    double arrival_s;
    double prompt, output;
    int64_t hash_tokens;
    int64_t n_hashes;
    uint64_t *hashes; /* room of REQUEST_HASHES_MAX, or NULL until the first is read */
    bool has_times;   /* of a run: the two below */
    double first_s, last_s; /* from arrival */
} request_record;

enum { REQUEST_COLUMNS_MAX = 64 };

/** Where a CSV file keeps what is wanted; -1: it does not. */
typedef struct request_columns {
    const char *origin; /* "Azure" */
    int n;
    int arrival, prompt, output;
    double arrival_unit_s; /* of a time that is a number */
} request_columns;

/** Whether a first line names the columns of requests. @return false: it does not */
bool ridge__request_columns(ridge_str header, request_columns *out);

/** @errors E_PARSE naming the line and the column; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__request_csv_read(ridge_ctx *cx,
                                                     const request_lines *lines,
                                                     const request_columns *columns,
                                                     ridge_str line,
                                                     request_record *out);

/** The format of a line of JSON. @return false: it is none of a request */
bool ridge__request_json_format(ridge_str line, ridge_request_format *out);

/** @param format  MOONCAKE, BAILIAN, TOKENS or MEASURED
 * @errors E_PARSE naming the line; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__request_json_read(
    ridge_ctx *cx, const request_lines *lines, ridge_request_format format,
    ridge_str line, int64_t tokens_a_piece, request_record *out);

#endif
