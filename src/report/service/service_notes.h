/* What an answer says in words beside its numbers, the same in text, pages and JSON.
 * Layer-internal. */
#ifndef RIDGE_REPORT_SERVICE_NOTES_H
#define RIDGE_REPORT_SERVICE_NOTES_H

#include "ridge/report_service.h"

enum { RIDGE_SERVICE_NOTES_MAX = 8 };

/** Sentences on what the times are, where they lie in practice, on pipelines, on
 * energy, on what the model states and what it does not. @param out  room for
 * RIDGE_SERVICE_NOTES_MAX; owned by cx.
 * @return how many */
int ridge__service_notes(ridge_ctx *cx, const ridge_service_view *view,
                         const char **out);

#endif
