/* The degrees of a layout in a cell of a table. */
#ifndef RIDGE_LAYOUT_TEXT_H
#define RIDGE_LAYOUT_TEXT_H

#include "ridge/plan_layout.h"

/** "fsdp 64 tp 2 pp 4": degrees above 1; "one chip". In the ctx's arena. */
const char *ridge__layout_text(ridge_ctx *cx, const ridge_layout *layout);

#endif
