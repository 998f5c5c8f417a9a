/*
 * YAML flattened: "a.b.c" = text, by libyaml's events. Of lists the length and the text
 * count alone: "[x, y]". Environment variables with a default, ${NAME:value}, are that.
 */
#include "launch_sheet.h"

#include <string.h>
#include <yaml.h>

enum { DEPTH_MOST = 32, NAME_BYTES = 1024, LIST_BYTES = 4096, EVENTS_MOST = 200000 };

typedef struct yaml_reader {
    launch_settings *out;
    yaml_parser_t parser;
    int events;
    int depth;
    size_t lengths[DEPTH_MOST]; /* of the name, before each open mapping's key */
    char name[NAME_BYTES];
    size_t n;
} yaml_reader;

static ridge_status fail_parser(yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    return ridge_fail(r->out->cx, RIDGE_E_PARSE, "%s:%zu: no YAML: %s", r->out->file,
                      p->problem_mark.line + 1,
                      p->problem == NULL ? "malformed" : p->problem);
}

static ridge_status next_event(yaml_reader *r, yaml_event_t *event)
{
    if (++r->events > EVENTS_MOST)
        return ridge_fail(r->out->cx, RIDGE_E_PARSE, "%s: too much YAML", r->out->file);
    if (!yaml_parser_parse(&r->parser, event))
        return fail_parser(r);
    return RIDGE_OK;
}

/* What stands between ':' and '}' of "${NAME:value}"; p NULL: no such variable. */
static ridge_str default_of(const char *variable)
{
    const size_t n = strcspn(variable, "}");
    const char *colon = memchr(variable, ':', n);
    if (variable[0] != '$' || variable[1] != '{' || variable[n] != '}' || colon == NULL)
        return (ridge_str){NULL, 0};
    colon += colon[1] == '-' ? 2 : 1;
    return (ridge_str){colon, (size_t)(variable + n - colon)};
}

/* ${NAME:value} and ${NAME:-value} are the value. */
static const char *plain_value(yaml_reader *r, const char *text)
{
    ridge_buf b;
    if (strstr(text, "${") == NULL)
        return ridge_str_dup(ridge_ctx_arena(r->out->cx), ridge_str_of(text));
    ridge_buf_init(&b, ridge_ctx_arena(r->out->cx));
    for (const char *p = text; *p != '\0'; p++) {
        const ridge_str value = default_of(p);
        ridge_buf_add(&b, value.p == NULL ? (ridge_str){p, 1} : value);
        if (value.p != NULL)
            p = value.p + value.n;
    }
    return b.is_short ? NULL : ridge_buf_text(&b);
}

static ridge_status add_setting(yaml_reader *r, const char *value, size_t line)
{
    const char *copy = plain_value(r, value);
    if (copy == NULL)
        return ridge_fail_nomem(r->out->cx);
    return launch_settings_add(r->out, (ridge_str){r->name, r->n}, copy, (int)line + 1);
}

static ridge_status read_key(yaml_reader *r, const yaml_event_t *event)
{
    const char *key = (const char *)event->data.scalar.value;
    const size_t n = strlen(key);
    const size_t at = r->lengths[r->depth - 1];
    if (at + n + 2 > NAME_BYTES) {
        return ridge_fail(r->out->cx, RIDGE_E_PARSE, "%s:%zu: a name too long",
                          r->out->file, event->start_mark.line + 1);
    }
    r->n = at;
    if (at > 0)
        r->name[r->n++] = '.';
    memcpy(r->name + r->n, key, n);
    r->n += n;
    return RIDGE_OK;
}

static ridge_status fail_depth(const yaml_reader *r, size_t line)
{
    return ridge_fail(r->out->cx, RIDGE_E_PARSE, "%s:%zu: nested too deeply",
                      r->out->file, line + 1);
}

/* A list as its text, nested ones without their brackets. */
static ridge_status read_list(yaml_reader *r, size_t line)
{
    ridge_buf text;
    int depth = 1;
    int items = 0;
    ridge_buf_init(&text, ridge_ctx_scratch(r->out->cx));
    ridge_buf_puts(&text, "[");
    while (depth > 0) {
        yaml_event_t event;
        /* The parser takes longer for each bracket within another. */
        if (depth > DEPTH_MOST)
            return fail_depth(r, line);
        RIDGE_TRY(next_event(r, &event));
        if (event.type == YAML_SEQUENCE_START_EVENT ||
            event.type == YAML_MAPPING_START_EVENT) {
            depth++;
        } else if (event.type == YAML_SEQUENCE_END_EVENT ||
                   event.type == YAML_MAPPING_END_EVENT) {
            depth--;
        } else if (event.type == YAML_SCALAR_EVENT && text.n < LIST_BYTES) {
            ridge_buf_printf(&text, "%s%s", items++ > 0 ? "," : "",
                             (const char *)event.data.scalar.value);
        }
        yaml_event_delete(&event);
    }
    ridge_buf_puts(&text, "]");
    if (text.is_short)
        return ridge_fail_nomem(r->out->cx);
    return add_setting(r, ridge_buf_text(&text), line);
}

static ridge_status open_mapping(yaml_reader *r, size_t line)
{
    if (r->depth == DEPTH_MOST)
        return fail_depth(r, line);
    r->lengths[r->depth++] = r->n;
    return RIDGE_OK;
}

static void close_mapping(yaml_reader *r)
{
    r->n = r->lengths[--r->depth];
}

/* What belongs to the key that was read, or starts the document. */
static ridge_status read_value(yaml_reader *r, const yaml_event_t *event)
{
    const size_t line = event->start_mark.line;
    switch ((int)event->type) {
    case YAML_SCALAR_EVENT:
        return add_setting(r, (const char *)event->data.scalar.value, line);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(r, line);
    case YAML_MAPPING_START_EVENT:
        return open_mapping(r, line);
    default:
        return RIDGE_OK; /* an alias: what it stands for was read where it is set */
    }
}

static ridge_status take_event(yaml_reader *r, const yaml_event_t *event, bool *is_key)
{
    switch ((int)event->type) {
    case YAML_MAPPING_END_EVENT:
        close_mapping(r);
        *is_key = true;
        return RIDGE_OK;
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
    case YAML_ALIAS_EVENT:
        break;
    default:
        return RIDGE_OK;
    }
    if (*is_key && r->depth > 0) {
        if (event->type != YAML_SCALAR_EVENT) {
            return ridge_fail(r->out->cx, RIDGE_E_PARSE,
                              "%s:%zu: a key that is no plain word", r->out->file,
                              event->start_mark.line + 1);
        }
        *is_key = false;
        return read_key(r, event);
    }
    RIDGE_TRY(read_value(r, event));
    *is_key = true;
    return RIDGE_OK;
}

static ridge_status read_events(yaml_reader *r)
{
    bool is_key = true;
    bool is_done = false;
    while (!is_done) {
        yaml_event_t event;
        RIDGE_TRY(next_event(r, &event));
        const ridge_status st = take_event(r, &event, &is_key);
        is_done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (st != RIDGE_OK)
            return st;
    }
    return RIDGE_OK;
}

ridge_status launch_yaml_read(ridge_str text, launch_settings *out)
{
    yaml_reader r = {.out = out};
    if (!yaml_parser_initialize(&r.parser))
        return ridge_fail_nomem(out->cx);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
    const ridge_status st = read_events(&r);
    yaml_parser_delete(&r.parser);
    return st;
}
