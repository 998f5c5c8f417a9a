/* Modules as HLO text writes them. Layer-internal. */
#ifndef RIDGE_HLO_TEXT_H
#define RIDGE_HLO_TEXT_H

#include "hlo_builder.h"
#include "text_cursor.h"

/** All modules of a text. @errors E_PARSE with file:line:column; E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_text_read(ridge_ctx *cx, ridge_str text,
                                           const char *path, ridge_hlo_file *out);

/** "key=text, key=text" behind an instruction or a module's name. The items are copied
 *  out of @p list's room. */
RIDGE_NODISCARD ridge_status hlo_text_attributes(text_cursor *c, hlo_list *list);

/** Whether nothing follows the line that begins here. */
bool hlo_text_is_last_line(const char *from, const char *end);

/** Read instructions up to the brace that closes the computation.
 * @param signature  its parameters as the head names them */
RIDGE_NODISCARD ridge_status hlo_text_instructions(text_cursor *c, hlo_builder *b,
                                                   ridge_str signature);

#endif
