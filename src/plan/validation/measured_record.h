/*
 * A measured row as flat named fields, whether it came as a line of CSV below a header
 * or as a JSON object {id, source {title}, hardware {}, config {}, measured {}}.
 */
#ifndef RIDGE_PLAN_MEASURED_RECORD_H
#define RIDGE_PLAN_MEASURED_RECORD_H

#include "measured_csv.h"

enum { MEASURED_RECORD_MAX = MEASURED_CSV_FIELD_MAX };

/** One field; what is empty or null is left out. */
typedef struct measured_field {
    const char *name;
    const char *text; /* NULL: a JSON number */
    double number;    /* of JSON; of CSV it is read from the text */
} measured_field;

typedef struct measured_record {
    const char *id;
    const char *source;
    int line;
    int n;
    measured_field at[MEASURED_RECORD_MAX];
} measured_record;

/** @param header  the names, of as many fields as the row has
 *  @errors E_PARSE with file:line: another number of fields than the header has */
RIDGE_NODISCARD ridge_status measured_record_of_csv(ridge_ctx *cx,
                                                    const measured_csv *csv,
                                                    const measured_csv_row *header,
                                                    const measured_csv_row *row,
                                                    measured_record *out);

/** @param where  file:line, for messages
 *  @errors E_PARSE: no JSON, no object, or one without id, source, hardware, config */
RIDGE_NODISCARD ridge_status measured_record_of_json(ridge_ctx *cx, ridge_str line,
                                                     const char *where,
                                                     measured_record *out);

/** Text of a field. @return NULL when there is none of that name */
const char *measured_record_text(const measured_record *r, const char *name);
/** Numbers beyond are no measurement; products of a few stay finite. */
#define MEASURED_NUMBER_MOST 1e18

/** A number above zero and up to MEASURED_NUMBER_MOST. @return false: there is none */
bool measured_record_number(const measured_record *r, const char *name, double *out);
/** The same of the first of two names that has one. */
bool measured_record_either(const measured_record *r, const char *name,
                            const char *other, double *out);

#endif
