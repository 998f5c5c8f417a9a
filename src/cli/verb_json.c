/* The table of verbs as JSON, for faces that are made from it. */
#include "verb_table.h"

static ridge_json *option_json(ridge_ctx *cx, const cli_option *option)
{
    ridge_json *o = ridge_json_object(cx);
    ridge_json_set_text(o, "name", option->name);
    ridge_json_set_text(o, "value", option->value);
    ridge_json_set_text(o, "help", option->help);
    return o;
}

static ridge_json *verb_json(ridge_ctx *cx, const cli_verb *verb)
{
    ridge_json *o = ridge_json_object(cx);
    ridge_json *options = ridge_json_array(cx);
    ridge_json_set_text(o, "name", verb->name);
    ridge_json_set_text(o, "summary", verb->summary);
    ridge_json_set_text(o, "synopsis", verb->synopsis);
    ridge_json_set_text(o, "detail", verb->detail);
    ridge_json_set_text(o, "example", verb->example);
    ridge_json_set_bool(o, "takes_knobs", verb->takes_knobs);
    ridge_json_set_bool(o, "is_live", verb->is_live);
    for (const cli_option *p = verb->options; p != NULL && p->name != NULL; p++)
        ridge_json_push(options, option_json(cx, p));
    ridge_json_set(o, "options", options);
    return o;
}

ridge_status cli_verbs_write_json(ridge_ctx *cx, const cli_verb_table *table,
                                  ridge_buf *out)
{
    ridge_json *list = ridge_json_array(cx);
    for (size_t i = 0; i < table->n; i++)
        ridge_json_push(list, verb_json(cx, table->verbs[i]));
    RIDGE_TRY(ridge_json_write(cx, list, out));
    ridge_buf_puts(out, "\n");
    return RIDGE_OK;
}
