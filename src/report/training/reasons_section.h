/* Why the best layout wins, and what would change its mind. Layer-internal. */
#ifndef RIDGE_REPORT_REASONS_SECTION_H
#define RIDGE_REPORT_REASONS_SECTION_H

#include "section.h"

#include "ridge/plan_train_rooflines.h"
#include "ridge/report.h"

/** Where the other layouts lose; nothing if there is but one. */
void ridge__others_section_add(ridge_ctx *cx, const ridge_train_view *view,
                               ridge_sections *sections);

/** Layouts of which none is both faster and smaller; nothing if not asked. */
void ridge__front_section_add(ridge_ctx *cx, const ridge_train_view *view,
                              ridge_sections *sections);

/** What if, limits and sensitivity, as far as they were asked for. */
void ridge__reasons_section_add(ridge_ctx *cx, const ridge_train_view *view,
                                ridge_sections *sections);

/** The keys "others", "pareto", "what_if", "relaxations", "sensitivity". */
void ridge__reasons_to_json(ridge_ctx *cx, const ridge_train_view *view,
                            ridge_json *object);

/** The plain rooflines of a layout; nothing if not asked. */
void ridge__train_rooflines_add(ridge_ctx *cx, const ridge_train_view *view,
                                ridge_sections *sections);

/** The key "rooflines". */
void ridge__train_rooflines_to_json(ridge_ctx *cx,
                                    const ridge_train_rooflines *rooflines,
                                    ridge_json *object);

/** "dp=1 fsdp=8 tp=4 ...", what is not 1. In the ctx's arena. */
const char *ridge__layout_words(ridge_ctx *cx, const ridge_layout *layout);

#endif
