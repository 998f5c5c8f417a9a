/*
 * The sections of a profile, the same for text and pages. Layer-internal.
 */
#ifndef RIDGE_REPORT_PROFILE_SECTIONS_H
#define RIDGE_REPORT_PROFILE_SECTIONS_H

#include "section.h"

#include "ridge/report_profile.h"

enum { PROFILE_ROWS = 12, PROFILE_NAME_COLUMNS = 56 };

/** All sections, title and subtitle. */
void profile_sections_build(ridge_ctx *cx, const ridge_profile_view *view,
                            ridge_sections *sections);
/** A name cut in the middle to fit a column, and valid UTF-8. In the ctx's arena. */
const char *profile_name_text(ridge_ctx *cx, const char *name, size_t most);
/** Seconds of nanoseconds. */
double profile_seconds(int64_t ns);

/** The sections, one function each. */
void profile_steps_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s);
void profile_ranks_add(ridge_ctx *cx, const ridge_profile *p, ridge_sections *s);
void profile_groups_add(ridge_ctx *cx, const ridge_profile_view *v, ridge_sections *s);
void profile_winnable_add(ridge_ctx *cx, const ridge_profile_view *v,
                          ridge_sections *s);
void profile_collectives_add(ridge_ctx *cx, const ridge_profile_view *v,
                             ridge_sections *s);
void profile_gaps_add(ridge_ctx *cx, const ridge_profile_view *v, ridge_sections *s);

#endif
