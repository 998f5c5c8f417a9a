/* What the writers of all engines share. */
#include "server_draft.h"

#include <inttypes.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------- */

/* Chips that an engine runs on. */
typedef enum engine_chips { ON_GPUS, ON_NVIDIA, ON_TPUS, ON_BOTH } engine_chips;

static const struct {
    const char *title;
    server_dialect dialect;
    engine_chips chips;
    const char *instead; /* on other chips */
} engines[RIDGE_SERVING_LAUNCHER_COUNT] = {
    [RIDGE_SERVING_LAUNCHER_VLLM] = {"vLLM", SERVER_DIALECT_VLLM, ON_GPUS, "vllm-tpu"},
    [RIDGE_SERVING_LAUNCHER_VLLM_YAML] = {"vLLM", SERVER_DIALECT_VLLM, ON_GPUS,
                                          "vllm-tpu"},
    [RIDGE_SERVING_LAUNCHER_VLLM_TPU] = {"vLLM on TPUs", SERVER_DIALECT_VLLM, ON_TPUS,
                                         "vllm"},
    [RIDGE_SERVING_LAUNCHER_SGLANG] = {"SGLang", SERVER_DIALECT_SGLANG, ON_GPUS,
                                       "vllm-tpu"},
    [RIDGE_SERVING_LAUNCHER_TRTLLM] = {"TensorRT-LLM", SERVER_DIALECT_TRTLLM, ON_NVIDIA,
                                       "vllm"},
    [RIDGE_SERVING_LAUNCHER_TGI] = {"TGI", SERVER_DIALECT_TGI, ON_GPUS, "vllm-tpu"},
    [RIDGE_SERVING_LAUNCHER_LMDEPLOY] = {"LMDeploy", SERVER_DIALECT_LMDEPLOY, ON_NVIDIA,
                                         "vllm"},
    [RIDGE_SERVING_LAUNCHER_JETSTREAM] = {"JetStream", SERVER_DIALECT_MAXTEXT, ON_TPUS,
                                          "vllm"},
    [RIDGE_SERVING_LAUNCHER_MAXTEXT] = {"MaxText", SERVER_DIALECT_MAXTEXT, ON_BOTH,
                                        "vllm"},
};

static bool runs_on(engine_chips chips, const ridge_chip *chip)
{
    switch (chips) {
    case ON_GPUS:
        return chip->kind != RIDGE_CHIP_TPU;
    case ON_NVIDIA:
        return chip->kind == RIDGE_CHIP_GPU && strcmp(chip->vendor, "NVIDIA") == 0;
    case ON_TPUS:
        return chip->kind == RIDGE_CHIP_TPU;
    case ON_BOTH:
        break;
    }
    return true;
}

static ridge_status check_chips(server_draft *d)
{
    const ridge_slice *slice = d->deployment->slice;
    if (slice == NULL || runs_on(engines[d->launcher].chips, slice->chip))
        return RIDGE_OK;
    return launch_draft_refuse(&d->sheet, "does not run on %.80s: export --to %s",
                               slice->chip->full_name, engines[d->launcher].instead);
}

/* Chips of a node: of a switched system the second of its shape. */
static int64_t node_chips(const ridge_slice *slice)
{
    if (slice == NULL || slice->hosts < 1)
        return 0;
    return ridge_ceil_div(slice->chips, slice->hosts);
}

/* Whether an engine of the catalogue is of the launcher's kind: "vllm-v1-async". */
static void check_engine(server_draft *d)
{
    const char *kind = ridge_serving_launcher_engine(d->launcher);
    const char *name = d->engine->name;
    d->is_own = strncmp(name, kind, strlen(kind)) == 0;
    if (!d->is_own) {
        launch_draft_note(&d->sheet,
                          "planned for %s: %s batches and pages in its own way; plan "
                          "with --engine %s",
                          name, d->sheet.launcher, kind);
    }
}

ridge_status server_draft_open(server_draft *draft, ridge_serving_launcher launcher,
                               const ridge_deployment *deployment, int pool)
{
    const ridge_service_pool *p = &deployment->choice.pools[pool];
    *draft = (server_draft){.sheet = {.cx = draft->sheet.cx,
                                      .launcher = engines[launcher].title,
                                      .model_name = deployment->model_name,
                                      .out = draft->sheet.out},
                            .deployment = deployment,
                            .pool = p,
                            .layout = &p->layout,
                            .model = deployment->model,
                            .engine = deployment->engine,
                            .launcher = launcher,
                            .dialect = engines[launcher].dialect,
                            .chips = ridge_serving_layout_chips(&p->layout),
                            .nodes = 1};
    RIDGE_TRY(check_chips(draft));
    check_engine(draft);
    const int64_t node = node_chips(deployment->slice);
    if (node > 0)
        draft->nodes = ridge_ceil_div(draft->chips, node);
    if (p->layout.is_weight_gathered) {
        return launch_draft_refuse(&draft->sheet,
                                   "keeps weights where they are: plan with "
                                   "gathered=0");
    }
    if (p->layout.has_two_batches && !draft->engine->splits_batches) {
        return launch_draft_refuse(&draft->sheet,
                                   "does not split iterations in halves: plan with "
                                   "overlap=0");
    }
    if (p->layout.redundant_experts > 0 && !draft->engine->replicates_experts) {
        return launch_draft_refuse(&draft->sheet,
                                   "has no copies of experts: plan with redundant=0");
    }
    if (p->layout.placement != 0) {
        launch_draft_note(&draft->sheet,
                          "which chips hold which shard is %s's choice; the plan is "
                          "priced with placement %d",
                          draft->sheet.launcher, p->layout.placement);
    }
    return RIDGE_OK;
}

/* ---- what all are told ----------------------------------------------------------- */

static ridge_status refuse_formats(server_draft *d)
{
    const ridge_serving_formats *f = &d->layout->formats;
    return launch_draft_refuse(
        &d->sheet,
        "has no quantisation to weights in %s, experts in %s and products in %s of a "
        "checkpoint that is otherwise: plan with a model that is published so",
        ridge_dtype_text(f->weight), ridge_dtype_text(f->expert),
        ridge_dtype_text(f->compute));
}

/* Formats to which an engine quantises a checkpoint of wider weights itself. */
static bool is_quantised_on_loading(const server_draft *d)
{
    return d->layout->formats.weight == RIDGE_DTYPE_FP8 &&
           (d->dialect == SERVER_DIALECT_VLLM || d->dialect == SERVER_DIALECT_SGLANG ||
            d->dialect == SERVER_DIALECT_TGI);
}

static ridge_status draft_weights(server_draft *d)
{
    const ridge_serving_formats *f = &d->layout->formats;
    if (server_formats_match(f, d->model, d->deployment->slice))
        return RIDGE_OK;
    const char *word = server_formats_word(d->sheet.cx, d->dialect, f, d->deployment);
    if (word == NULL)
        return refuse_formats(d);
    launch_draft_text(&d->sheet, LAUNCH_QUANT, word);
    if (is_quantised_on_loading(d)) {
        launch_draft_note(&d->sheet, "%s quantises the checkpoint when it loads it",
                          d->sheet.launcher);
    } else {
        launch_draft_note(&d->sheet,
                          "weights in %s: put a checkpoint that is quantised so in the "
                          "place of %s",
                          ridge_dtype_text(f->expert), d->sheet.model_name);
    }
    return RIDGE_OK;
}

ridge_status server_draft_formats(server_draft *d)
{
    const ridge_serving_formats own = server_formats_of(d->model, d->deployment->slice);
    const ridge_serving_formats *f = &d->layout->formats;
    if (f->activation != own.activation) {
        return launch_draft_refuse(&d->sheet,
                                   "passes activations on in the checkpoint's %s: plan "
                                   "with activations=%s",
                                   ridge_dtype_text(own.activation),
                                   ridge_dtype_text(own.activation));
    }
    RIDGE_TRY(draft_weights(d));
    const ridge_dtype unasked = ridge_serving_cache_of(d->model, d->deployment->engine);
    const char *word = server_cache_word(d->dialect, f->cache, unasked);
    if (word == NULL) {
        return launch_draft_refuse(&d->sheet,
                                   "has no cache in %s: plan with another kv format",
                                   ridge_dtype_text(f->cache));
    }
    if (strcmp(word, "auto") != 0)
        launch_draft_text(&d->sheet, LAUNCH_CACHE_DTYPE, word);
    if (f->attention != own.attention) {
        launch_draft_note(&d->sheet,
                          "whether scores are computed in %s is up to the attention "
                          "kernel that %s chooses",
                          ridge_dtype_text(f->attention), d->sheet.launcher);
    }
    return RIDGE_OK;
}

void server_draft_limits(server_draft *d, int64_t ranks)
{
    const ridge_serving_layout *l = d->layout;
    const int64_t of_rank = ridge_ceil_div(l->sequences, l->attention_dp);
    if (of_rank * l->attention_dp != l->sequences) {
        launch_draft_note(&d->sheet,
                          "%" PRId64 " sequences do not divide over %" PRId64
                          " attention ranks: %" PRId64 " each",
                          l->sequences, l->attention_dp, of_rank);
    }
    launch_draft_i64(&d->sheet, LAUNCH_SEQUENCES, of_rank * ranks);
    if (d->deployment->longest_tokens > 0)
        launch_draft_i64(&d->sheet, LAUNCH_CONTEXT,
                         (int64_t)d->deployment->longest_tokens);
    /* Kernels of a latent choose their pages themselves on vLLM and SGLang. */
    const bool is_free =
        server_has_latent(d->model) && d->dialect != SERVER_DIALECT_TRTLLM;
    if (d->is_own && d->engine->block_tokens > 0 && server_kv_heads(d->model) > 0 &&
        !is_free)
        launch_draft_i64(&d->sheet, LAUNCH_CACHE_BLOCK, d->engine->block_tokens);
}

void server_draft_share(server_draft *d)
{
    if (!d->is_own)
        return;
    launch_draft_text(
        &d->sheet, LAUNCH_MEMORY_SHARE,
        ridge_sprintf(ridge_ctx_arena(d->sheet.cx), "%.4g", d->engine->memory_share));
}

const char *server_draft_model_name(server_draft *d)
{
    if (d->deployment->draft_name != NULL)
        return d->deployment->draft_name;
    launch_draft_note(&d->sheet, "put what drafts in the place of DRAFT: heads trained "
                                 "for this model, or a smaller model");
    return "DRAFT";
}

ridge_status server_draft_tp_alone(server_draft *d)
{
    const ridge_serving_layout *l = d->layout;
    if (l->pp > 1 || l->attention_dp > 1 || l->ep > 1) {
        return launch_draft_refuse(&d->sheet, "divides a model by tp alone: plan with "
                                              "pp=1, attention_dp=1 and ep=1");
    }
    if (l->kv_cut != RIDGE_KV_CUT_HEADS && l->tp > server_kv_heads(d->model)) {
        return launch_draft_refuse(&d->sheet,
                                   "cuts a cache by heads: plan with kv_cut=heads");
    }
    launch_draft_i64(&d->sheet, LAUNCH_TP, l->tp);
    return RIDGE_OK;
}

ridge_status server_draft_check_chain(server_draft *d)
{
    const ridge_draft *draft = &d->layout->draft;
    if (draft->kind == RIDGE_DRAFT_NONE || draft->nodes <= draft->depth)
        return RIDGE_OK;
    return launch_draft_refuse(&d->sheet,
                               "drafts chains: plan with nodes=%" PRId64 ", the depth",
                               draft->depth);
}

/* ---- text ------------------------------------------------------------------------ */

static const char *role_text(ridge_service_role role, bool is_one)
{
    switch (role) {
    case RIDGE_SERVICE_ROLE_PREFILL:
        return is_one ? "that computes prompts" : "that compute prompts";
    case RIDGE_SERVICE_ROLE_DECODE:
        return is_one ? "that decodes" : "that decode";
    case RIDGE_SERVICE_ROLE_BOTH:
        break;
    }
    return "like this";
}

void server_draft_heading(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    const int64_t n = d->pool->servers;
    const bool is_pair = d->deployment->choice.n_pools > 1;
    if (n == 1 && !is_pair)
        return;
    ridge_buf_printf(b, "# %" PRId64 " server%s %s, %s%" PRId64 " chip%s of its own\n",
                     n, n == 1 ? "" : "s", role_text(d->pool->role, n == 1),
                     n == 1 ? "on " : "each on ", d->chips, d->chips == 1 ? "" : "s");
    if (n > 1)
        ridge_buf_printf(b, "replicas=%" PRId64 "\n", n);
}

/* A value as a shell takes it. */
static void put_value(ridge_buf *b, const char *value)
{
    const bool is_plain = strpbrk(value, " {}[]\"*?;&|<>()") == NULL;
    ridge_buf_printf(b, is_plain ? " %s" : " '%s'", value);
}

void server_draft_put_flags(server_draft *d, const launch_option *options)
{
    ridge_buf *b = &d->sheet.out->text;
    bool is_put[LAUNCH_FIELD_COUNT] = {false};
    for (const launch_option *o = options; o->name != NULL; o++) {
        const char *value = d->sheet.value[o->field];
        if (value == NULL || is_put[o->field] || o->field == LAUNCH_UNPRICED)
            continue;
        is_put[o->field] = true;
        ridge_buf_printf(b, " \\\n  --%s", o->name);
        if (value[0] != '\0')
            put_value(b, value);
    }
    ridge_buf_puts(b, "\n");
}

/* The mappings of "a.b.key" that are not open yet. @return the key */
static const char *open_mappings(ridge_buf *b, const char *name, const char *last,
                                 int *indent)
{
    const char *key = name;
    const char *dot = strchr(key, '.');
    while (dot != NULL) {
        const size_t n = (size_t)(dot + 1 - name);
        if (last == NULL || strncmp(last, name, n) != 0) {
            ridge_buf_pad(b, ' ', (size_t)*indent);
            ridge_buf_printf(b, "%.*s:\n", (int)(dot - key), key);
        }
        *indent += 2;
        key = dot + 1;
        dot = strchr(key, '.');
    }
    return key;
}

void server_draft_put_yaml(server_draft *d, const launch_option *options, int indent)
{
    ridge_buf *b = &d->sheet.out->text;
    bool is_put[LAUNCH_FIELD_COUNT] = {false};
    const char *last = NULL;
    for (const launch_option *o = options; o->name != NULL; o++) {
        const char *value = d->sheet.value[o->field];
        if (value == NULL || is_put[o->field] || o->field == LAUNCH_UNPRICED)
            continue;
        is_put[o->field] = true;
        int depth = indent;
        const char *key = open_mappings(b, o->name, last, &depth);
        const bool is_json = value[0] == '{';
        ridge_buf_pad(b, ' ', (size_t)depth);
        ridge_buf_printf(b, is_json ? "%s: '%s'\n" : "%s: %s\n", key,
                         value[0] == '\0' ? "true" : value);
        last = o->name;
    }
}
