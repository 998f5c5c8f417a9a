/* What a reader of a model's file assumed, for answers that rest on it. Layer-internal.
 */
#ifndef RIDGE_REPORT_GUESS_NOTE_H
#define RIDGE_REPORT_GUESS_NOTE_H

#include "section.h"

#include "ridge/model.h"

/** One sentence in the ctx's arena; NULL where nothing was assumed. */
const char *ridge__guess_note(ridge_ctx *cx, const ridge_model *model);

/** The same as a note of the last section, or of the head. */
void ridge__guess_note_add(ridge_ctx *cx, const ridge_model *model,
                           ridge_sections *sections);

#endif
