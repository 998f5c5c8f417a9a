/* A document as read: its text stays, so that a complaint can name the line. */
#ifndef RIDGE_BASE_JSON_H
#define RIDGE_BASE_JSON_H

#include "ridge/base.h"

struct ridge_json_doc {
    const char *file; /* name for messages */
    ridge_str text;
};

/** Line and column (from 1) of the value of @p n in its document's text. */
void ridge__json_place(ridge_node n, int *line, int *column);

/** "a.b[3]" for messages; cut short when it does not fit. */
void ridge__json_path(ridge_node n, char *out, size_t size);

#endif
