/*
 * Records of a CSV file as RFC 4180 has it: fields between commas, quoted where they
 * hold a comma, a quote (doubled) or a line break; lines end in LF or CRLF.
 */
#ifndef RIDGE_PLAN_MEASURED_CSV_H
#define RIDGE_PLAN_MEASURED_CSV_H

#include "ridge/base.h"

enum { MEASURED_CSV_FIELD_MAX = 64 };

/** A file that is being read. */
typedef struct measured_csv {
    const char *path; /* for messages */
    ridge_str rest;   /* what is still to be read */
    int line;         /* lines read so far */
} measured_csv;

typedef struct measured_csv_row {
    int line; /* on which it starts, from 1 */
    int n;
    const char *fields[MEASURED_CSV_FIELD_MAX]; /* in the ctx's arena */
} measured_csv_row;

/**
 * Read the next record; empty lines are passed over.
 * @param has_row  out: false at the end of the file
 * @errors E_PARSE with file:line: a quote that is not closed, text behind a closing
 *         quote, a NUL byte, more than MEASURED_CSV_FIELD_MAX fields
 */
RIDGE_NODISCARD ridge_status measured_csv_next(ridge_ctx *cx, measured_csv *csv,
                                               measured_csv_row *out, bool *has_row);

#endif
