/*
 * Servers of YAML files: options of vLLM or SGLang, keys of TensorRT-LLM, of its
 * disaggregated form (context_servers, generation_servers), MaxText's inference, or
 * Helm values with serverArgs below the engine's name. Which one it is show the keys.
 */
#include "server_command.h"

#include <string.h>

static const struct {
    ridge_serving_launcher launcher;
    const char *format;
} kinds[] = {{RIDGE_SERVING_LAUNCHER_VLLM, "vllm yaml"},
             {RIDGE_SERVING_LAUNCHER_SGLANG, "sglang yaml"},
             {RIDGE_SERVING_LAUNCHER_TRTLLM, "trtllm-serve yaml"},
             {RIDGE_SERVING_LAUNCHER_MAXTEXT, "MaxText inference yml"}};

static int count_known(const launch_settings *s, const launch_option *options)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        for (const launch_option *o = options; o->name != NULL; o++) {
            if (launch_name_is(o->name, s->all[i].name)) {
                n++;
                break;
            }
        }
    }
    return n;
}

static bool starts(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* What follows "ENGINE.serverArgs." in a name; NULL: not there. */
static const char *server_argument(const char *name)
{
    static const char mark[] = "serverArgs.";
    const char *at = strstr(name, mark);
    return at == NULL ? NULL : at + sizeof mark - 1;
}

/* Helm values: the engine's own options below serverArgs, the model above. */
static bool open_values(launch_settings *s, ridge_serving_launcher *launcher)
{
    static const char *const model[][2] = {
        {"model.name", "model"}, {"model.tp_size", "tp"}, {"model.pp_size", "pp"}};
    bool is_values = false;
    for (int i = 0; i < s->n; i++) {
        const char *argument = server_argument(s->all[i].name);
        if (argument == NULL)
            continue;
        is_values = true;
        *launcher = strstr(s->all[i].name, "sglang") != NULL
                        ? RIDGE_SERVING_LAUNCHER_SGLANG
                        : RIDGE_SERVING_LAUNCHER_VLLM;
        s->all[i].name = argument;
    }
    for (int i = 0; i < s->n && is_values; i++) {
        for (size_t k = 0; k < RIDGE_COUNT_OF(model); k++) {
            if (strcmp(s->all[i].name, model[k][0]) == 0)
                s->all[i].name = model[k][1];
        }
    }
    return is_values;
}

/* Settings below a key, and those that stand above all pools. */
static ridge_status add_pool(const launch_settings *from, const char *prefix,
                             ridge_service_role role, server_commands *out)
{
    server_command *server = &out->all[out->n++];
    const size_t n = strlen(prefix);
    *server = (server_command){.launcher = RIDGE_SERVING_LAUNCHER_TRTLLM,
                               .format = "trtllm-serve disaggregated yaml",
                               .settings = {.cx = from->cx, .file = from->file},
                               .role = role};
    for (int i = 0; i < from->n; i++) {
        const launch_setting *one = &from->all[i];
        const bool is_own = starts(one->name, prefix);
        if (!is_own && (starts(one->name, "context_servers.") ||
                        starts(one->name, "generation_servers.")))
            continue;
        const char *name = is_own ? one->name + n : one->name;
        if (is_own && strcmp(name, "num_instances") == 0 && one->value != NULL &&
            (!ridge_parse_i64(ridge_str_of(one->value), &server->replicas) ||
             server->replicas < 1 || server->replicas > 1000000)) {
            return ridge_fail(from->cx, RIDGE_E_PARSE,
                              "%s:%d: num_instances %.40s: expected a count of servers",
                              from->file, one->line, one->value);
        }
        RIDGE_TRY(launch_settings_add(&server->settings, ridge_str_of(name), one->value,
                                      one->line));
    }
    return RIDGE_OK;
}

static bool is_disaggregated(const launch_settings *s)
{
    bool has_context = false;
    bool has_generation = false;
    for (int i = 0; i < s->n; i++) {
        has_context |= starts(s->all[i].name, "context_servers.");
        has_generation |= starts(s->all[i].name, "generation_servers.");
    }
    return has_context && has_generation;
}

ridge_status server_yaml_read(ridge_ctx *cx, ridge_str text, const char *file,
                              server_commands *out)
{
    launch_settings s = {.cx = cx, .file = file};
    ridge_serving_launcher launcher = RIDGE_SERVING_LAUNCHER_VLLM;
    const char *format = "Helm values";
    int most = 0;
    RIDGE_TRY(launch_yaml_read(text, &s));
    if (is_disaggregated(&s)) {
        RIDGE_TRY(add_pool(&s, "context_servers.", RIDGE_SERVICE_ROLE_PREFILL, out));
        return add_pool(&s, "generation_servers.", RIDGE_SERVICE_ROLE_DECODE, out);
    }
    if (!open_values(&s, &launcher)) {
        for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
            const int known = count_known(&s, server_options_of(kinds[i].launcher));
            if (known > most) {
                most = known;
                launcher = kinds[i].launcher;
                format = kinds[i].format;
            }
        }
        if (most == 0)
            return RIDGE_OK;
    }
    out->all[out->n++] =
        (server_command){.launcher = launcher, .format = format, .settings = s};
    return RIDGE_OK;
}
