/* One server as a pool: the model by name, the engine of the catalogue with what is
 * stated, and the reader of its options. */
#include "launch_names.h"
#include "server_read.h"

#include <string.h>

static void note_unknown(server_reader *r)
{
    const launch_settings *s = &r->server->settings;
    for (int i = 0; i < s->n; i++) {
        if (server_name_is_known(r->sheet.options, s->all[i].name))
            continue;
        launch_notes_add(r->cx, &r->launch->unknown, "%s:%d: %.80s is not known",
                         s->file, s->all[i].line, s->all[i].name);
    }
}

/* ---- the model and the engine ---------------------------------------------------- */

/* MaxText has names of its own for models. */
static const char *library_name(const server_reader *r, const char *name)
{
    const launch_name *row =
        r->dialect == SERVER_DIALECT_MAXTEXT ? launch_name_find(name) : NULL;
    return row == NULL ? name : row->library;
}

/* A checkpoint that is not known, of a model that is: its name says how it is
 * quantised. @return false: it does not, or that model is not known either */
static bool load_quantised(server_reader *r, const char *name)
{
    ridge_serving_formats ignored = {0};
    ridge_str base;
    const char *mark;
    if (!server_formats_by_name(name, r->query->slice, &ignored, &base, &mark))
        return false;
    const char *plain = ridge_str_dup(ridge_ctx_arena(r->cx), base);
    if (plain == NULL ||
        ridge_model_load(r->cx, r->query->library, plain, &r->model) != RIDGE_OK)
        return false;
    ridge_ctx_clear(r->cx);
    r->quantised_name = name;
    r->launch->loaded_name = r->model->name;
    launch_notes_add(r->cx, &r->launch->assumed,
                     "weights of %.80s as %.40s says of them", r->model->name, mark);
    return true;
}

static ridge_status load_model(server_reader *r, const char *name)
{
    const ridge_status st = ridge_model_load(r->cx, r->query->library, name, &r->model);
    r->launch->loaded_name = name;
    if (st == RIDGE_OK)
        return RIDGE_OK;
    const char *why =
        ridge_str_dup(ridge_ctx_arena(r->cx), ridge_str_of(ridge_ctx_message(r->cx)));
    if (st == RIDGE_E_NOTFOUND && load_quantised(r, name))
        return RIDGE_OK;
    return launch_sheet_fail(&r->sheet, st, LAUNCH_MODEL_NAME,
                             "%s: or give the model as well",
                             why == NULL ? "unknown model" : why);
}

/* The checkpoint's, and what its name says. */
static ridge_serving_formats formats_of(const server_reader *r)
{
    ridge_serving_formats f = server_formats_of(r->model, r->query->slice);
    f.cache = ridge_serving_cache_of(r->model, r->engine);
    ridge_str base;
    const char *mark;
    if (r->quantised_name != NULL)
        server_formats_by_name(r->quantised_name, r->query->slice, &f, &base, &mark);
    return f;
}

static ridge_status read_model(server_reader *r)
{
    ridge_deployment *d = r->deployment;
    const char *name = NULL;
    if (launch_sheet_has(&r->sheet, LAUNCH_MODEL_NAME))
        RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_MODEL_NAME, &name));
    r->model = r->query->model;
    if (d->model_name == NULL)
        d->model_name = name;
    if (r->model == NULL && name == NULL) {
        return ridge_fail(
            r->cx, RIDGE_E_PARSE,
            "%s: the model is not stated: give it as well, as in ridge serve "
            "llama-3-70b --from FILE",
            r->sheet.file);
    }
    if (r->model == NULL)
        RIDGE_TRY(load_model(r, library_name(r, name)));
    if (d->model_name == NULL)
        d->model_name = r->model->name;
    if (r->launch->loaded_name == NULL)
        r->launch->loaded_name = r->model->name;
    if (d->model != NULL && strcmp(d->model->name, r->model->name) != 0) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_MODEL_NAME,
                                 "two models, %.80s and %.80s: read one at a time",
                                 d->model->name, r->model->name);
    }
    d->model = r->model;
    return RIDGE_OK;
}

/* A vllm command is for TPUs where the chips are such, or its options say so. */
static ridge_serving_launcher launcher_of(const server_command *server,
                                          const ridge_serving_launch_query *q)
{
    const bool has_tpu = q->slice != NULL && q->slice->chip->kind == RIDGE_CHIP_TPU;
    bool is_stated = false;
    for (int i = 0; i < server->settings.n; i++) {
        const launch_setting *s = &server->settings.all[i];
        is_stated |= launch_name_is(s->name, "additional-config") && s->value != NULL &&
                     strstr(s->value, "sharding_strategy") != NULL;
    }
    if (server->launcher == RIDGE_SERVING_LAUNCHER_VLLM && (has_tpu || is_stated))
        return RIDGE_SERVING_LAUNCHER_VLLM_TPU;
    return server->launcher;
}

/* Whether a switch is stated, and is not false. */
static bool is_stated(const server_command *server, const char *name)
{
    const launch_settings *s = &server->settings;
    for (int i = 0; i < s->n; i++) {
        if (launch_name_is(s->all[i].name, name))
            return s->all[i].value == NULL || strcmp(s->all[i].value, "true") == 0 ||
                   strcmp(s->all[i].value, "True") == 0;
    }
    return false;
}

/* vLLM's first engine alone plans several iterations at once; a variable chose it. */
static bool is_first_engine(const server_command *server)
{
    if (server->is_first_engine)
        return true;
    const launch_setting *s =
        launch_settings_find(&server->settings, "num-scheduler-steps");
    return s != NULL && s->value != NULL && strcmp(s->value, "1") != 0;
}

/* The engine of the catalogue that runs with these switches. */
static const char *engine_name(const server_command *server)
{
    const launch_setting *eviction = launch_settings_find(
        &server->settings, "scheduler_config.capacity_scheduler_policy");
    if (server->launcher == RIDGE_SERVING_LAUNCHER_VLLM &&
        is_stated(server, "async-scheduling"))
        return "vllm-async";
    if (server->launcher == RIDGE_SERVING_LAUNCHER_VLLM && is_first_engine(server))
        return "vllm-v0";
    if (server->launcher == RIDGE_SERVING_LAUNCHER_TRTLLM && eviction != NULL &&
        eviction->value != NULL && strcmp(eviction->value, "MAX_UTILIZATION") == 0)
        return "trtllm-max-utilization";
    return ridge_serving_launcher_engine(server->launcher);
}

static ridge_status open_engine(server_reader *r)
{
    const ridge_engine *found = r->query->engine;
    r->engine = ridge_new(ridge_ctx_arena(r->cx), ridge_engine, 1);
    if (r->engine == NULL)
        return ridge_fail_nomem(r->cx);
    const ridge_slice *slice = r->query->slice;
    const char *name = engine_name(r->server);
    if (found == NULL && slice != NULL)
        RIDGE_TRY(
            ridge_engine_find_on(r->cx, r->query->catalog, name, slice->chip, &found));
    else if (found == NULL)
        RIDGE_TRY(ridge_engine_find(r->cx, r->query->catalog, name, &found));
    *r->engine = *found;
    if (is_stated(r->server, "disable-overlap-schedule") ||
        is_stated(r->server, "disable-overlap-scheduler"))
        r->engine->is_host_hidden = false;
    if (slice != NULL) {
        const ridge_engine_room room = ridge_engine_room_on(found, slice->chip);
        r->engine->sequences = room.sequences;
        r->engine->budget_tokens = room.budget_tokens;
    }
    r->deployment->engine = r->engine;
    return RIDGE_OK;
}

/* ---- pools ----------------------------------------------------------------------- */

static ridge_status read_pool(server_reader *r)
{
    switch (r->dialect) {
    case SERVER_DIALECT_VLLM:
        return server_vllm_read(r);
    case SERVER_DIALECT_SGLANG:
        return server_sglang_read(r);
    case SERVER_DIALECT_TRTLLM:
        return server_trtllm_read(r);
    case SERVER_DIALECT_TGI:
        return server_tgi_read(r);
    case SERVER_DIALECT_LMDEPLOY:
        return server_lmdeploy_read(r);
    case SERVER_DIALECT_MAXTEXT:
        break;
    }
    return server_maxtext_read(r);
}

/* Degrees that no machine has are told before they are multiplied elsewhere. */
static ridge_status check_degrees(const server_reader *r)
{
    static const int64_t most = 100000000;
    const ridge_serving_layout *l = r->layout;
    const int64_t degrees[] = {l->tp, l->attention_dp, l->pp, r->pool->servers};
    int64_t chips = 1;
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (!ridge_mul_i64(chips, degrees[i], &chips) || chips > most) {
            return ridge_fail(r->cx, RIDGE_E_ARG,
                              "%s:%d: its degrees multiply to more than %lld chips",
                              r->sheet.file, r->server->line, (long long)most);
        }
    }
    return RIDGE_OK;
}

static server_dialect dialect_of(ridge_serving_launcher launcher)
{
    switch (launcher) {
    case RIDGE_SERVING_LAUNCHER_VLLM:
    case RIDGE_SERVING_LAUNCHER_VLLM_YAML:
    case RIDGE_SERVING_LAUNCHER_VLLM_TPU:
        return SERVER_DIALECT_VLLM;
    case RIDGE_SERVING_LAUNCHER_SGLANG:
        return SERVER_DIALECT_SGLANG;
    case RIDGE_SERVING_LAUNCHER_TRTLLM:
        return SERVER_DIALECT_TRTLLM;
    case RIDGE_SERVING_LAUNCHER_TGI:
        return SERVER_DIALECT_TGI;
    case RIDGE_SERVING_LAUNCHER_LMDEPLOY:
        return SERVER_DIALECT_LMDEPLOY;
    case RIDGE_SERVING_LAUNCHER_JETSTREAM:
    case RIDGE_SERVING_LAUNCHER_MAXTEXT:
        break;
    }
    return SERVER_DIALECT_MAXTEXT;
}

static void move_notes(ridge_ctx *cx, const ridge_launch_notes *from,
                       ridge_launch_notes *to)
{
    for (int i = 0; i < from->n; i++)
        launch_notes_add(cx, to, "%s", from->text[i]);
}

ridge_status server_pool_add(ridge_ctx *cx, server_command *server,
                             const ridge_serving_launch_query *query,
                             ridge_serving_launch *launch)
{
    ridge_deployment *d = &launch->deployment;
    ridge_service_pool *pool = &d->choice.pools[d->choice.n_pools++];
    server_reader *r = ridge_new(ridge_ctx_arena(cx), server_reader, 1);
    if (r == NULL)
        return ridge_fail_nomem(cx);
    server->launcher = launcher_of(server, query);
    const launch_option *options = server_options_of(server->launcher);
    RIDGE_TRY(server_settings_open(&server->settings, options));
    *r = (server_reader){.cx = cx,
                         .server = server,
                         .query = query,
                         .dialect = dialect_of(server->launcher),
                         .launch = launch,
                         .deployment = d,
                         .pool = pool,
                         .layout = &pool->layout};
    RIDGE_TRY(launch_sheet_fill(&server->settings, options, query->model != NULL,
                                &r->notes, &r->sheet));
    RIDGE_TRY(open_engine(r));
    RIDGE_TRY(read_model(r));
    *pool = (ridge_service_pool){
        .role = server->role,
        .servers = server->replicas > 0 ? server->replicas : 1,
        .layout = {
            .tp = 1, .pp = 1, .ep = 1, .attention_dp = 1, .formats = formats_of(r)}};
    RIDGE_TRY(read_pool(r));
    RIDGE_TRY(check_degrees(r));
    note_unknown(r);
    move_notes(cx, &r->notes.assumed, &launch->assumed);
    move_notes(cx, &r->notes.differing, &launch->differing);
    launch->read += r->notes.read;
    launch->ignored += r->notes.ignored;
    launch->launcher = server->launcher;
    launch->format = server->format;
    return RIDGE_OK;
}
