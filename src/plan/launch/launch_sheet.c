/* Settings sorted by what they mean, and values read from them. */
#include "launch_sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SETTINGS_MOST = 20000, NOTE_BYTES = 512 };

/* ---- settings -------------------------------------------------------------------- */

ridge_status launch_settings_add(launch_settings *s, ridge_str name, const char *value,
                                 int line)
{
    if (s->n == SETTINGS_MOST) {
        return ridge_fail(s->cx, RIDGE_E_PARSE, "%s:%d: more than %d settings", s->file,
                          line, SETTINGS_MOST);
    }
    if (s->n == s->cap) {
        const int cap = s->cap == 0 ? 128 : 2 * s->cap;
        launch_setting *all =
            ridge_new(ridge_ctx_arena(s->cx), launch_setting, (size_t)cap);
        if (all == NULL)
            return ridge_fail_nomem(s->cx);
        if (s->n > 0)
            memcpy(all, s->all, (size_t)s->n * sizeof *all);
        s->all = all;
        s->cap = cap;
    }
    const char *copy = ridge_str_dup(ridge_ctx_arena(s->cx), name);
    if (copy == NULL)
        return ridge_fail_nomem(s->cx);
    s->all[s->n++] = (launch_setting){copy, value, line};
    return RIDGE_OK;
}

const launch_setting *launch_settings_find(const launch_settings *s, const char *name)
{
    for (int i = s->n - 1; i >= 0; i--) {
        if (strcmp(s->all[i].name, name) == 0)
            return &s->all[i];
    }
    return NULL;
}

/* ---- notes ----------------------------------------------------------------------- */

void launch_notes_add(ridge_ctx *cx, ridge_launch_notes *notes, const char *fmt, ...)
{
    char text[NOTE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *p = text; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    }
    for (int i = 0; i < notes->n; i++) {
        if (strcmp(notes->text[i], text) == 0)
            return;
    }
    const char *copy = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(text));
    if (copy != NULL && notes->n < RIDGE_LAUNCH_NOTE_MAX)
        notes->text[notes->n++] = copy;
}

/* ---- sorting --------------------------------------------------------------------- */

bool launch_name_is(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        const char x = *a == '_' ? '-' : *a;
        const char y = *b == '_' ? '-' : *b;
        if (x != y)
            return false;
    }
    return *a == *b;
}

static const launch_option *find_option(const launch_option *options, const char *name)
{
    for (const launch_option *o = options; o->name != NULL; o++) {
        if (launch_name_is(o->name, name))
            return o;
    }
    return NULL;
}

static bool is_null(const char *value)
{
    static const char *const words[] = {"null", "None", "none", "~", ""};
    for (size_t i = 0; value != NULL && i < RIDGE_COUNT_OF(words); i++) {
        if (strcmp(value, words[i]) == 0)
            return true;
    }
    return false;
}

static bool read_bool(const char *value, bool *out)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"True", true},   {"1", true},      {"yes", true},
                 {"on", true},   {"false", false}, {"False", false}, {"0", false},
                 {"no", false},  {"off", false}};
    if (value == NULL) {
        *out = true;
        return true;
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        if (strcmp(value, words[i].text) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

/* Whether an unpriced option is at the value with which it changes nothing. */
static bool is_idle(const launch_option *o, const char *value)
{
    bool a;
    bool b;
    if (is_null(value))
        return true;
    if (o->otherwise == NULL)
        return false;
    ridge_str rest = ridge_str_of(o->otherwise);
    while (value != NULL && rest.p != NULL) {
        if (ridge_str_is(ridge_str_cut(&rest, '|'), value))
            return true;
    }
    return read_bool(value, &a) && read_bool(o->otherwise, &b) && a == b;
}

static void note_unpriced(launch_sheet *sheet, const launch_option *o,
                          const launch_setting *s)
{
    if (is_idle(o, s->value))
        return;
    launch_notes_add(sheet->cx, &sheet->launch->differing, "%s:%d: %s%s%.60s: %s",
                     sheet->file, s->line, s->name, s->value == NULL ? "" : " ",
                     s->value == NULL ? "" : s->value, o->effect);
}

/* Whether two names differ in one place, by at most two letters. */
static bool is_slip(const char *a, const char *b)
{
    const size_t na = strlen(a);
    const size_t nb = strlen(b);
    const size_t most = na > nb ? na : nb;
    const size_t least = na < nb ? na : nb;
    size_t head = 0;
    size_t tail = 0;
    while (head < least && a[head] == b[head])
        head++;
    while (tail < least - head && a[na - 1 - tail] == b[nb - 1 - tail])
        tail++;
    return least >= 8 && most - head - tail <= 2;
}

/* A name that nearly is one with a meaning was hardly meant to be ignored. */
static void note_misspelt(launch_sheet *sheet, const launch_setting *s)
{
    char plain[128];
    const size_t n = strlen(s->name);
    if (n >= sizeof plain)
        return;
    for (size_t i = 0; i <= n; i++)
        plain[i] = s->name[i] == '_' ? '-' : s->name[i];
    for (const launch_option *o = sheet->options; o->name != NULL; o++) {
        if (is_slip(plain, o->name)) {
            launch_notes_add(sheet->cx, &sheet->launch->differing,
                             "%s:%d: %s is not known: did you mean %s?", sheet->file,
                             s->line, s->name, o->name);
            return;
        }
    }
}

ridge_status launch_sheet_fill(const launch_settings *s, const launch_option *options,
                               bool has_model, ridge_launch *launch, launch_sheet *out)
{
    *out = (launch_sheet){
        .cx = s->cx, .file = s->file, .options = options, .launch = launch};
    for (int i = 0; i < s->n; i++) {
        const launch_option *o = find_option(options, s->all[i].name);
        if (o == NULL) {
            launch->ignored++;
            note_misspelt(out, &s->all[i]);
            continue;
        }
        launch->read++;
        if (o->field == LAUNCH_UNPRICED ||
            (o->field == LAUNCH_UNPRICED_MODEL && !has_model))
            note_unpriced(out, o, &s->all[i]);
        if (o->field == LAUNCH_UNPRICED || o->field == LAUNCH_UNPRICED_MODEL)
            continue;
        out->given[o->field] = &s->all[i];
        out->option[o->field] = o;
    }
    return RIDGE_OK;
}

/* ---- values ---------------------------------------------------------------------- */

bool launch_sheet_has(const launch_sheet *sheet, launch_field field)
{
    const launch_setting *s = sheet->given[field];
    return s != NULL && !is_null(s->value);
}

static const launch_option *option_of(const launch_sheet *sheet, launch_field field)
{
    if (sheet->option[field] != NULL)
        return sheet->option[field];
    for (const launch_option *o = sheet->options; o->name != NULL; o++) {
        if (o->field == field)
            return o;
    }
    return NULL;
}

const char *launch_sheet_name(const launch_sheet *sheet, launch_field field)
{
    const launch_option *o = option_of(sheet, field);
    return o == NULL ? "?" : o->name;
}

ridge_status launch_sheet_fail(launch_sheet *sheet, ridge_status st, launch_field field,
                               const char *fmt, ...)
{
    char text[NOTE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const launch_setting *s = sheet->given[field];
    if (s == NULL) {
        return ridge_fail(sheet->cx, st, "%s: %s: %s", sheet->file,
                          launch_sheet_name(sheet, field), text);
    }
    return ridge_fail(sheet->cx, st, "%s:%d: %s: %s", sheet->file, s->line, s->name,
                      text);
}

/* What a field says, by the file or by the framework; NULL: neither. */
static const char *value_of(launch_sheet *sheet, launch_field field, bool *is_given)
{
    *is_given = launch_sheet_has(sheet, field);
    if (*is_given)
        return sheet->given[field]->value;
    const launch_option *o = option_of(sheet, field);
    return o == NULL ? NULL : o->otherwise;
}

static void note_assumed(launch_sheet *sheet, launch_field field, const char *value)
{
    launch_notes_add(sheet->cx, &sheet->launch->assumed, "%s %s",
                     launch_sheet_name(sheet, field), value);
}

/* 10_000 and 4096; a variable of the shell is said to be one. */
static ridge_status parse_number(launch_sheet *sheet, launch_field field,
                                 const char *value, double *out)
{
    char plain[64];
    size_t n = 0;
    for (const char *p = value == NULL ? "" : value; *p != '\0'; p++) {
        if (*p != '_' && n + 1 < sizeof plain)
            plain[n++] = *p;
    }
    if (ridge_parse_double((ridge_str){plain, n}, out))
        return RIDGE_OK;
    if (value != NULL && strchr(value, '$') != NULL) {
        return launch_sheet_fail(sheet, RIDGE_E_PARSE, field,
                                 "%.60s is a variable without a value here: write the "
                                 "number",
                                 value);
    }
    return launch_sheet_fail(sheet, RIDGE_E_PARSE, field, "'%.60s' is no number",
                             value == NULL ? "" : value);
}

ridge_status launch_sheet_double(launch_sheet *sheet, launch_field field, double low,
                                 double high, double *out)
{
    bool is_given;
    double v;
    const char *value = value_of(sheet, field, &is_given);
    if (!is_given && value == NULL)
        return RIDGE_OK;
    RIDGE_TRY(parse_number(sheet, field, value, &v));
    if (!(v >= low && v <= high)) {
        return launch_sheet_fail(sheet, RIDGE_E_PARSE, field, "%g: expected %g to %g",
                                 v, low, high);
    }
    if (!is_given)
        note_assumed(sheet, field, value);
    *out = v;
    return RIDGE_OK;
}

ridge_status launch_sheet_i64(launch_sheet *sheet, launch_field field, int64_t low,
                              int64_t high, int64_t *out)
{
    double v = 0.5;
    RIDGE_TRY(launch_sheet_double(sheet, field, (double)low, (double)high, &v));
    if (v == 0.5)
        return RIDGE_OK;
    if (v != (double)(int64_t)v) {
        return launch_sheet_fail(sheet, RIDGE_E_PARSE, field,
                                 "%g: expected a whole number", v);
    }
    *out = (int64_t)v;
    return RIDGE_OK;
}

ridge_status launch_sheet_want(launch_sheet *sheet, launch_field field, int64_t *out)
{
    static const int64_t most = 1000000000;
    if (!launch_sheet_has(sheet, field))
        return RIDGE_OK;
    return launch_sheet_i64(sheet, field, 0, most, out);
}

ridge_status launch_sheet_flag(launch_sheet *sheet, launch_field field, bool *out)
{
    bool is_given;
    const char *value = value_of(sheet, field, &is_given);
    if (!is_given && value == NULL)
        return RIDGE_OK;
    if (!read_bool(value, out)) {
        return launch_sheet_fail(sheet, RIDGE_E_PARSE, field,
                                 "'%.60s': expected true or false", value);
    }
    return RIDGE_OK;
}

ridge_status launch_sheet_text(launch_sheet *sheet, launch_field field,
                               const char **out)
{
    bool is_given;
    const char *value = value_of(sheet, field, &is_given);
    if (!is_given && value == NULL)
        return RIDGE_OK;
    if (is_given && value == NULL) {
        return launch_sheet_fail(sheet, RIDGE_E_PARSE, field, "expected a value");
    }
    if (!is_given)
        note_assumed(sheet, field, value);
    *out = value;
    return RIDGE_OK;
}

ridge_status launch_sheet_word(launch_sheet *sheet, launch_field field,
                               const char **out)
{
    const launch_setting *s = sheet->given[field];
    if (s == NULL || s->value == NULL || s->value[0] == '\0')
        return launch_sheet_text(sheet, field, out);
    *out = s->value;
    return RIDGE_OK;
}
