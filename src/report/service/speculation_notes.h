/* What the study of drafting says in words, the same in text, pages and JSON.
 * Layer-internal. */
#ifndef RIDGE_REPORT_SPECULATION_NOTES_H
#define RIDGE_REPORT_SPECULATION_NOTES_H

#include "ridge/report_speculation.h"

enum { RIDGE_SPECULATION_NOTES_MAX = 4 };

/** Sentences on acceptance, on what is counted of the engine, and on trees.
 * @param out  room for RIDGE_SPECULATION_NOTES_MAX; owned by cx. @return how many */
int ridge__speculation_notes(ridge_ctx *cx, const ridge_speculation_view *view,
                             const char **out);

#endif
