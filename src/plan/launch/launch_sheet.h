/*
 * A launch configuration as a sheet: what each field says, where it was said, and what
 * the framework takes where nothing was. Complaints name the file and the line.
 */
#ifndef RIDGE_PLAN_LAUNCH_SHEET_H
#define RIDGE_PLAN_LAUNCH_SHEET_H

#include "launch_field.h"
#include "ridge/plan_launch.h"

/** name = value, as a file states it. */
typedef struct launch_setting {
    const char *name;
    const char *value; /* NULL: a flag alone */
    int line;
} launch_setting;

/** The settings of a file, in its order. */
typedef struct launch_settings {
    ridge_ctx *cx;
    const char *file;
    int n, cap;
    launch_setting *all;
} launch_settings;

/** @errors E_NOMEM; E_PARSE too many */
RIDGE_NODISCARD ridge_status launch_settings_add(launch_settings *s, ridge_str name,
                                                 const char *value, int line);
/** Whether two names are one: '-' and '_' are the same letter. */
bool launch_name_is(const char *a, const char *b);
/** The last setting of that name, or NULL. */
const launch_setting *launch_settings_find(const launch_settings *s, const char *name);

/** Readers of the formats. @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status launch_args_read(ridge_str text, launch_settings *out);
RIDGE_NODISCARD ridge_status launch_yaml_read(ridge_str text, launch_settings *out);
RIDGE_NODISCARD ridge_status launch_toml_read(ridge_str text, launch_settings *out);

typedef struct launch_sheet {
    ridge_ctx *cx;
    const char *file;
    const launch_option *options;
    const launch_setting *given[LAUNCH_FIELD_COUNT];
    const launch_option *option[LAUNCH_FIELD_COUNT]; /* by which it was given */
    ridge_launch *launch;                            /* where notes go */
} launch_sheet;

/**
 * Sort the settings into a sheet; count what is ignored, note what is not priced.
 * A name of the table with dashes also matches underscores.
 * @param has_model  the model is given beside the file, which need not describe it
 */
RIDGE_NODISCARD ridge_status launch_sheet_fill(const launch_settings *s,
                                               const launch_option *options,
                                               bool has_model, ridge_launch *launch,
                                               launch_sheet *out);

/** Whether the file states a field, and not as null or none. */
bool launch_sheet_has(const launch_sheet *sheet, launch_field field);
/** The name of a field's option, as given or as it would be. */
const char *launch_sheet_name(const launch_sheet *sheet, launch_field field);

/** A value, or the framework's default, noted; @p out is left alone where there is
 * neither. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status launch_sheet_i64(launch_sheet *sheet, launch_field field,
                                              int64_t low, int64_t high, int64_t *out);
RIDGE_NODISCARD ridge_status launch_sheet_double(launch_sheet *sheet,
                                                 launch_field field, double low,
                                                 double high, double *out);
RIDGE_NODISCARD ridge_status launch_sheet_flag(launch_sheet *sheet, launch_field field,
                                               bool *out);
RIDGE_NODISCARD ridge_status launch_sheet_text(launch_sheet *sheet, launch_field field,
                                               const char **out);
/** A text of which "none" is a value like others. */
RIDGE_NODISCARD ridge_status launch_sheet_word(launch_sheet *sheet, launch_field field,
                                               const char **out);
/** A count if it is stated, without a note of what was assumed. */
RIDGE_NODISCARD ridge_status launch_sheet_want(launch_sheet *sheet, launch_field field,
                                               int64_t *out);

/** "file:line: name: ..." @return @p st */
RIDGE_NODISCARD RIDGE_PRINTF(4, 5) ridge_status
    launch_sheet_fail(launch_sheet *sheet, ridge_status st, launch_field field,
                      const char *fmt, ...);

/** Add a sentence unless it is there. */
RIDGE_PRINTF(3, 4)
void launch_notes_add(ridge_ctx *cx, ridge_launch_notes *notes, const char *fmt, ...);

#endif
