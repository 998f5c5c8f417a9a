/* Shapes as HLO text writes them. Layer-internal. */
#ifndef RIDGE_HLO_SHAPE_TEXT_H
#define RIDGE_HLO_SHAPE_TEXT_H

#include "text_cursor.h"

#include "ridge/profile_hlo.h"

/** Whether a shape begins here: '(' or a type behind which '[' follows. */
bool hlo_shape_sees(text_cursor *c);
/** @errors E_PARSE with the place; E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_shape_read(text_cursor *c, ridge_hlo_shape *out);

#endif
