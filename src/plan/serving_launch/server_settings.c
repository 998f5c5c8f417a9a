/* Settings as tables know them: values that are JSON taken apart, "no-" before flags,
 * and which options are flags. */
#include "server_command.h"

#include <string.h>

enum { JSON_DEPTH_MOST = 6 };

const launch_option *server_options_of(ridge_serving_launcher launcher)
{
    switch (launcher) {
    case RIDGE_SERVING_LAUNCHER_VLLM:
    case RIDGE_SERVING_LAUNCHER_VLLM_YAML:
        return server_vllm_options;
    case RIDGE_SERVING_LAUNCHER_VLLM_TPU:
        return server_vllm_tpu_options;
    case RIDGE_SERVING_LAUNCHER_SGLANG:
        return server_sglang_options;
    case RIDGE_SERVING_LAUNCHER_TRTLLM:
        return server_trtllm_options;
    case RIDGE_SERVING_LAUNCHER_TGI:
        return server_tgi_options;
    case RIDGE_SERVING_LAUNCHER_LMDEPLOY:
        return server_lmdeploy_options;
    case RIDGE_SERVING_LAUNCHER_JETSTREAM:
    case RIDGE_SERVING_LAUNCHER_MAXTEXT:
        break;
    }
    return server_maxtext_options;
}

static const launch_option *find_option(const launch_option *options, const char *name)
{
    for (const launch_option *o = options; o->name != NULL; o++) {
        if (launch_name_is(o->name, name))
            return o;
    }
    return NULL;
}

bool server_option_is_flag(const launch_option *options, const char *name)
{
    static const launch_field flags[] = {LAUNCH_EXPERT_PARALLEL,
                                         LAUNCH_PREFIX_CACHE,
                                         LAUNCH_NO_PREFIX_CACHE,
                                         LAUNCH_CHUNKED,
                                         LAUNCH_NO_CHUNKED,
                                         LAUNCH_NO_GRAPHS,
                                         LAUNCH_QUANT_LOADED,
                                         LAUNCH_HAS_ATTENTION_DP,
                                         LAUNCH_SCAN,
                                         LAUNCH_OVERLAP,
                                         LAUNCH_NO_OVERLAP,
                                         LAUNCH_TWO_BATCHES,
                                         LAUNCH_HAS_REPLICAS,
                                         LAUNCH_MIXED,
                                         LAUNCH_BALANCE};
    static const char *const alone[] = {"ssl", "json-output", "ngrok", "env",
                                        "allow-credentials"};
    const launch_option *o = find_option(options, name);
    for (size_t i = 0; i < RIDGE_COUNT_OF(alone); i++) {
        if (launch_name_is(name, alone[i]))
            return true;
    }
    if (o == NULL)
        return strncmp(name, "enable-", 7) == 0 || strncmp(name, "disable-", 8) == 0 ||
               strncmp(name, "no-", 3) == 0 || strncmp(name, "trust", 5) == 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(flags); i++) {
        if (o->field == flags[i])
            return true;
    }
    return o->field == LAUNCH_UNPRICED && o->otherwise != NULL &&
           strcmp(o->otherwise, "false") == 0;
}

/* A plain value of JSON as text; NULL: an object or a list. */
static const char *plain_text(ridge_ctx *cx, ridge_node n)
{
    const char *text;
    double number;
    bool is_true;
    if (ridge_json_text(n, &text))
        return ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(text));
    if (ridge_json_double(n, &number))
        return ridge_sprintf(ridge_ctx_arena(cx), "%.17g", number);
    if (ridge_json_bool(n, &is_true))
        return is_true ? "true" : "false";
    return NULL;
}

/* The members of an object, and of objects in it to a depth. */
static ridge_status add_members(launch_settings *s, const char *name, ridge_node node,
                                int line, int depth)
{
    for (ridge_node m = ridge_json_member(&node, 0); m.key != NULL;
         m = ridge_json_member_after(&node, m)) {
        const char *path =
            ridge_sprintf(ridge_ctx_arena(s->cx), "%s.%.200s", name, m.key);
        if (path == NULL)
            return ridge_fail_nomem(s->cx);
        if (ridge_json_kind_of(m) == RIDGE_JSON_OBJECT) {
            if (depth < JSON_DEPTH_MOST)
                RIDGE_TRY(add_members(s, path, m, line, depth + 1));
            continue;
        }
        const char *text = plain_text(s->cx, m);
        RIDGE_TRY(launch_settings_add(s, ridge_str_of(path),
                                      text == NULL ? "[...]" : text, line));
    }
    return RIDGE_OK;
}

static ridge_status open_json(launch_settings *s, const launch_setting *one)
{
    ridge_node root;
    if (ridge_json_parse(s->cx, ridge_str_of(one->value), s->file, &root) != RIDGE_OK) {
        ridge_ctx_clear(s->cx);
        return RIDGE_OK; /* the reader of that field says so */
    }
    return add_members(s, one->name, root, one->line, 0);
}

/* vLLM's short names of options that are JSON, whole or of one member. */
static ridge_status lengthen(launch_settings *s, launch_setting *one)
{
    static const struct {
        const char *brief, *name;
    } names[] = {{"cc", "compilation-config"}, {"sc", "speculative-config"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        const size_t n = strlen(names[i].brief);
        if (strncmp(one->name, names[i].brief, n) != 0 ||
            (one->name[n] != '\0' && one->name[n] != '.'))
            continue;
        one->name = ridge_sprintf(ridge_ctx_arena(s->cx), "%s%.200s", names[i].name,
                                  one->name + n);
        if (one->name == NULL)
            return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

ridge_status server_settings_open(launch_settings *s, const launch_option *options)
{
    const int n = s->n;
    const bool is_vllm = find_option(options, "compilation-config.mode") != NULL;
    for (int i = 0; i < n; i++) {
        if (is_vllm)
            RIDGE_TRY(lengthen(s, &s->all[i]));
        const launch_setting one = s->all[i];
        if (one.value != NULL && one.value[0] == '{')
            RIDGE_TRY(open_json(s, &one));
        const bool is_negated =
            strncmp(one.name, "no-", 3) == 0 || strncmp(one.name, "no_", 3) == 0;
        if (is_negated && one.value == NULL && find_option(options, one.name) == NULL) {
            s->all[i].name = one.name + 3;
            s->all[i].value = "false";
        }
    }
    return RIDGE_OK;
}
