/*
 * YAML as a JSON document, by libyaml's events: mappings, lists and plain scalars of
 * one document. It is written as JSON whose values stand on the lines that they have in
 * the YAML, so that complaints name the right one. Anchors are not taken.
 */
#include "ridge/base_yaml.h"

#include <math.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MOST = 32, EVENTS_MOST = 400000 };

typedef struct yaml_writer {
    ridge_ctx *cx;
    const char *file;
    yaml_parser_t parser;
    ridge_buf json;
    size_t line; /* of the end of json */
    int events;
    int depth;
    bool is_mapping[DEPTH_MOST];
    size_t counts[DEPTH_MOST]; /* of what stands in each open one: keys and values */
} yaml_writer;

static ridge_status fail_at(yaml_writer *w, size_t line, const char *what)
{
    return ridge_fail(w->cx, RIDGE_E_PARSE, "%s:%zu: no YAML: %s", w->file, line + 1,
                      what);
}

static ridge_status next_event(yaml_writer *w, yaml_event_t *event)
{
    const yaml_parser_t *p = &w->parser;
    if (++w->events > EVENTS_MOST)
        return ridge_fail(w->cx, RIDGE_E_PARSE, "%s: too much YAML", w->file);
    if (!yaml_parser_parse(&w->parser, event))
        return fail_at(w, p->problem_mark.line,
                       p->problem == NULL ? "malformed" : p->problem);
    return RIDGE_OK;
}

static bool is_key(const yaml_writer *w)
{
    return w->depth > 0 && w->is_mapping[w->depth - 1] &&
           w->counts[w->depth - 1] % 2 == 0;
}

/* What stands between the last value and the next, whose line that is. */
static void separate(yaml_writer *w, size_t line)
{
    if (w->depth > 0) {
        const size_t n = w->counts[w->depth - 1]++;
        const bool is_value = w->is_mapping[w->depth - 1] && n % 2 == 1;
        ridge_buf_puts(&w->json, is_value ? ":" : n > 0 ? "," : "");
    }
    for (; w->line < line; w->line++)
        ridge_buf_puts(&w->json, "\n");
}

static void put_quoted(yaml_writer *w, const char *text)
{
    ridge_buf_puts(&w->json, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
            ridge_buf_printf(&w->json, "\\u%04x", (unsigned)(unsigned char)*p);
        else
            ridge_buf_add(&w->json, (ridge_str){p, 1});
    }
    ridge_buf_puts(&w->json, "\"");
}

/* A plain scalar that is a number or a word of JSON's. @return false: a text */
static bool put_plain(yaml_writer *w, const char *text)
{
    static const char *const words[] = {"true", "false", "null"};
    int64_t whole;
    double real;
    for (size_t i = 0; i < RIDGE_COUNT_OF(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            ridge_buf_puts(&w->json, text);
            return true;
        }
    }
    if (ridge_parse_i64(ridge_str_of(text), &whole)) {
        ridge_buf_printf(&w->json, "%lld", (long long)whole);
        return true;
    }
    if (!ridge_parse_double(ridge_str_of(text), &real) || !isfinite(real))
        return false;
    ridge_buf_printf(&w->json, "%.17g", real);
    return true;
}

static ridge_status put_scalar(yaml_writer *w, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const bool can_be_plain =
        !is_key(w) && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (strlen(text) != event->data.scalar.length)
        return fail_at(w, event->start_mark.line, "a text with a zero byte in it");
    separate(w, event->start_mark.line);
    if (!can_be_plain || !put_plain(w, text))
        put_quoted(w, text);
    return RIDGE_OK;
}

static ridge_status open_one(yaml_writer *w, const yaml_event_t *event, bool is_mapping)
{
    if (w->depth == DEPTH_MOST)
        return fail_at(w, event->start_mark.line, "nested too deeply");
    if (is_key(w))
        return fail_at(w, event->start_mark.line, "a key that is no plain word");
    separate(w, event->start_mark.line);
    ridge_buf_puts(&w->json, is_mapping ? "{" : "[");
    w->is_mapping[w->depth] = is_mapping;
    w->counts[w->depth++] = 0;
    return RIDGE_OK;
}

static ridge_status take_event(yaml_writer *w, const yaml_event_t *event)
{
    switch ((int)event->type) {
    case YAML_SCALAR_EVENT:
        return put_scalar(w, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        return open_one(w, event, event->type == YAML_MAPPING_START_EVENT);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        ridge_buf_puts(&w->json, w->is_mapping[--w->depth] ? "}" : "]");
        return RIDGE_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(w, event->start_mark.line, "anchors and aliases are not taken");
    default:
        return RIDGE_OK;
    }
}

static ridge_status read_document(yaml_writer *w)
{
    for (bool is_done = false; !is_done;) {
        yaml_event_t event;
        RIDGE_TRY(next_event(w, &event));
        const ridge_status st = take_event(w, &event);
        is_done = event.type == YAML_DOCUMENT_END_EVENT ||
                  event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        RIDGE_TRY(st);
    }
    if (w->json.is_short)
        return ridge_fail_nomem(w->cx);
    return w->json.n > 0 ? RIDGE_OK : fail_at(w, 0, "nothing stands in it");
}

ridge_status ridge_yaml_parse(ridge_ctx *cx, ridge_str text, const char *file,
                              ridge_node *out)
{
    yaml_writer w = {.cx = cx, .file = file};
    ridge_buf_init(&w.json, ridge_ctx_arena(cx));
    if (!yaml_parser_initialize(&w.parser))
        return ridge_fail_nomem(cx);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text.p, text.n);
    const ridge_status st = read_document(&w);
    yaml_parser_delete(&w.parser);
    RIDGE_TRY(st);
    return ridge_json_parse(cx, (ridge_str){ridge_buf_text(&w.json), w.json.n}, file,
                            out);
}
