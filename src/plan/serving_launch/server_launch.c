/* Servers of a text as one deployment: alike ones joined, roles and chips checked. */
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const size_t FILE_BYTES_MOST = (size_t)4 << 20;

static ridge_status check_chips(ridge_ctx *cx, const char *file,
                                const ridge_serving_launch_query *query,
                                ridge_serving_launch *launch)
{
    ridge_deployment *d = &launch->deployment;
    const double chips = (double)ridge_service_choice_chips(&d->choice);
    d->slice = query->slice;
    if (query->slice == NULL || chips <= (double)query->slice->chips)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: it runs on %g chips, %s has %" PRId64
                      ": choose another slice",
                      file, chips, query->slice->text, query->slice->chips);
}

static ridge_status check_roles(ridge_ctx *cx, const char *file,
                                const ridge_deployment *d)
{
    const ridge_service_role a = d->choice.pools[0].role;
    const ridge_service_role b = d->choice.pools[1].role;
    const bool is_pair = d->choice.n_pools == 2 && a != b &&
                         a != RIDGE_SERVICE_ROLE_BOTH && b != RIDGE_SERVICE_ROLE_BOTH;
    if (is_pair || (d->choice.n_pools == 1 && a == RIDGE_SERVICE_ROLE_BOTH))
        return RIDGE_OK;
    if (d->choice.n_pools == 1) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: a server that %s: give the command of its partner as "
                          "well",
                          file,
                          a == RIDGE_SERVICE_ROLE_PREFILL ? "computes prompts alone"
                                                          : "decodes alone");
    }
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: two servers that are not one for prompts and one that "
                      "decodes: read one at a time",
                      file);
}

/* ---- servers that are alike ------------------------------------------------------ */

static bool is_among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (launch_name_is(names[i], name))
            return true;
    }
    return false;
}

/* Which of the nodes of one server a command is for. */
static bool is_node_name(const char *name)
{
    static const char *const names[] = {"node-rank", "data-parallel-start-rank", "dpr",
                                        "data-parallel-rank", "headless"};
    return is_among(names, RIDGE_COUNT_OF(names), name);
}

static bool is_place_name(const char *name)
{
    static const char *const names[] = {
        "port",        "host",      "data-parallel-address",  "dist-init-addr",
        "master-addr", "nccl-port", "data-parallel-rpc-port", "api-server-count"};
    return is_node_name(name) || is_among(names, RIDGE_COUNT_OF(names), name);
}

/* The next setting that tells what runs, not where. */
static const launch_setting *next_setting(const launch_settings *s, int *at)
{
    while (*at < s->n && is_place_name(s->all[*at].name))
        (*at)++;
    return *at < s->n ? &s->all[(*at)++] : NULL;
}

static bool is_repeat(const server_command *a, const server_command *b)
{
    int i = 0;
    int k = 0;
    if (a->launcher != b->launcher || a->role != b->role)
        return false;
    for (;;) {
        const launch_setting *x = next_setting(&a->settings, &i);
        const launch_setting *y = next_setting(&b->settings, &k);
        if (x == NULL || y == NULL)
            return x == y;
        if (strcmp(x->name, y->name) != 0 ||
            strcmp(x->value == NULL ? "" : x->value,
                   y->value == NULL ? "" : y->value) != 0)
            return false;
    }
}

static bool has_node(const server_command *c)
{
    for (int i = 0; i < c->settings.n; i++) {
        if (is_node_name(c->settings.all[i].name))
            return true;
    }
    return false;
}

/* A command again is one more server, or another node of the same. */
static void join_repeats(server_commands *servers)
{
    int n = 0;
    for (int i = 0; i < servers->n; i++) {
        const server_command *one = &servers->all[i];
        int k = 0;
        while (k < n && !is_repeat(&servers->all[k], one))
            k++;
        if (k == n) {
            servers->all[n++] = *one;
            continue;
        }
        server_command *first = &servers->all[k];
        if (has_node(one) || has_node(first))
            continue;
        first->replicas = (first->replicas > 0 ? first->replicas : 1) +
                          (one->replicas > 0 ? one->replicas : 1);
    }
    servers->n = n;
}

/* ---- the whole ------------------------------------------------------------------- */

/* What is read. */
typedef struct launch_source {
    ridge_str text;
    const char *file;
    bool may_open; /* configurations that it names */
} launch_source;

static ridge_status parse(ridge_ctx *cx, const launch_source *source,
                          const ridge_serving_launch_query *query,
                          ridge_serving_launch *out)
{
    const ridge_str text = source->text;
    const char *file = source->file;
    server_commands *servers = ridge_new(ridge_ctx_arena(cx), server_commands, 1);
    ridge_serving_launch launch = {.path = file};
    if (servers == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(server_commands_read(cx, text, file, source->may_open, servers));
    if (servers->n == 0 && memchr(text.p, ':', text.n) != NULL)
        RIDGE_TRY(server_yaml_read(cx, text, file, servers));
    join_repeats(servers);
    if (servers->n == 0) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: no server is started in it: give vllm serve, "
                          "sglang.launch_server, trtllm-serve, "
                          "text-generation-launcher, lmdeploy serve or "
                          "maxengine_server with options, or their yaml",
                          file);
    }
    if (servers->n > 2) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: %d unlike servers: read one, or one for prompts and one "
                          "that decodes",
                          file, servers->n);
    }
    for (int i = 0; i < servers->n; i++)
        RIDGE_TRY(server_pool_add(cx, &servers->all[i], query, &launch));
    launch.deployment.choice.mode = servers->n == 1 ? RIDGE_SERVICE_MODE_AGGREGATED
                                                    : RIDGE_SERVICE_MODE_DISAGGREGATED;
    RIDGE_TRY(check_roles(cx, file, &launch.deployment));
    RIDGE_TRY(check_chips(cx, file, query, &launch));
    *out = launch;
    return RIDGE_OK;
}

ridge_status ridge_serving_launch_parse(ridge_ctx *cx, ridge_str text, const char *file,
                                        const ridge_serving_launch_query *query,
                                        ridge_serving_launch *out)
{
    const launch_source source = {text, file, false};
    return parse(cx, &source, query, out);
}

ridge_status ridge_serving_launch_read(ridge_ctx *cx, const char *file_or_text,
                                       const ridge_serving_launch_query *query,
                                       ridge_serving_launch *out)
{
    const char *copy = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(file_or_text));
    if (copy == NULL)
        return ridge_fail_nomem(cx);
    launch_source source = {.file = copy, .may_open = true};
    if (strchr(file_or_text, ' ') != NULL && !ridge_path_exists(file_or_text)) {
        source = (launch_source){ridge_str_of(copy), "command line", true};
    } else {
        RIDGE_TRY(ridge_file_read(cx, file_or_text, FILE_BYTES_MOST, &source.text));
    }
    return parse(cx, &source, query, out);
}
