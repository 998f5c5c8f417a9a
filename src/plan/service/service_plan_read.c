/* Serving plans read: the format is described in service_plan_file.c. */
#include "ridge/plan_service_file.h"

#include <math.h>
#include <string.h>

enum { PLAN_VERSION = 1, DEGREE_MOST = 1 << 20 };

static const double TOKENS_MOST = 1e9;

/* clang-format off */
#define TEXT(name, text, what) text,
static const char *const cuts[] = {RIDGE_KV_CUT_LIST(TEXT)};
static const char *const drafts[] = {RIDGE_DRAFT_LIST(TEXT)};
#undef TEXT
/* clang-format on */

/* ---- values ---------------------------------------------------------------------- */

static ridge_status want_count(ridge_ctx *cx, const ridge_node *o, const char *key,
                               int64_t low, int64_t *out)
{
    return ridge_json_want_i64(cx, ridge_json_get(o, key), low, DEGREE_MOST, out);
}

/* A number that may be absent. */
static ridge_status may_number(ridge_ctx *cx, const ridge_node *o, const char *key,
                               double low, double high, double *out)
{
    const ridge_node n = ridge_json_get(o, key);
    return ridge_json_is_absent(n) ? RIDGE_OK
                                   : ridge_json_want_double(cx, n, low, high, out);
}

/* One of the words of a list. */
static ridge_status want_word(ridge_ctx *cx, const ridge_node *o, const char *key,
                              const char *const *words, size_t n, int *out)
{
    const char *text;
    const ridge_node at = ridge_json_get(o, key);
    RIDGE_TRY(ridge_json_want_text(cx, at, &text));
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = (int)i;
            return RIDGE_OK;
        }
    }
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), text, words, n);
    return ridge_json_fail(cx, at, "unknown word '%.40s'%s%s", text,
                           hint != NULL && hint[0] != '\0' ? ": " : "",
                           hint != NULL ? hint : "");
}

static ridge_status want_dtype(ridge_ctx *cx, const ridge_node *o, const char *key,
                               ridge_dtype *out)
{
    const char *text;
    const ridge_node at = ridge_json_get(o, key);
    RIDGE_TRY(ridge_json_want_text(cx, at, &text));
    if (ridge_dtype_parse(cx, text, out) == RIDGE_OK)
        return RIDGE_OK;
    const char *what =
        ridge_str_dup(ridge_ctx_scratch(cx), ridge_str_of(ridge_ctx_message(cx)));
    return ridge_json_fail(cx, at, "%s", what == NULL ? "unknown format" : what);
}

/* ---- what was asked -------------------------------------------------------------- */

static ridge_status read_work(ridge_ctx *cx, const ridge_node *root,
                              ridge_service_work *w)
{
    static const char *const known[] = {"prompt_tokens", "output_tokens",
                                        "cached_tokens", "context_tokens"};
    const ridge_node o = ridge_json_get(root, "work");
    RIDGE_TRY(ridge_json_only(cx, o, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(ridge_json_want_double(cx, ridge_json_get(&o, "prompt_tokens"), 1,
                                     TOKENS_MOST, &w->prompt_tokens));
    RIDGE_TRY(ridge_json_want_double(cx, ridge_json_get(&o, "output_tokens"), 1,
                                     TOKENS_MOST, &w->output_tokens));
    RIDGE_TRY(
        may_number(cx, &o, "cached_tokens", 0, w->prompt_tokens, &w->cached_tokens));
    if (w->cached_tokens >= w->prompt_tokens)
        return ridge_json_fail(cx, ridge_json_get(&o, "cached_tokens"),
                               "expected fewer than prompt_tokens");
    return may_number(cx, &o, "context_tokens", 0, TOKENS_MOST, &w->context_tokens);
}

static ridge_status read_goals(ridge_ctx *cx, const ridge_node *root,
                               ridge_service_goals *g)
{
    static const char *const keys[] = {"ttft_s", "tpot_s", "e2e_s", "quantile"};
    *g = ridge_service_goals_none();
    const ridge_node o = ridge_json_get(root, "goals");
    if (ridge_json_is_absent(o))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_only(cx, o, keys, RIDGE_COUNT_OF(keys)));
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys) - 1; i++)
        RIDGE_TRY(may_number(cx, &o, keys[i], 1e-9, 1e12, &g->most_s[i]));
    RIDGE_TRY(may_number(cx, &o, "quantile", 0, 0.999, &g->quantile));
    if (g->quantile != 0 && g->quantile < 0.5)
        return ridge_json_fail(cx, ridge_json_get(&o, "quantile"),
                               "expected 0, or 0.5 to 0.999");
    return RIDGE_OK;
}

static ridge_status read_asked(ridge_ctx *cx, const ridge_node *root,
                               ridge_service_plan *p)
{
    const char *aims[RIDGE_SERVICE_AIM_COUNT];
    int aim = RIDGE_SERVICE_AIM_THROUGHPUT;
    for (int i = 0; i < RIDGE_SERVICE_AIM_COUNT; i++)
        aims[i] = ridge_service_aim_text((ridge_service_aim)i);
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(root, "model"), &p->model_name));
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(root, "slice"), &p->slice_text));
    RIDGE_TRY(
        ridge_json_want_text(cx, ridge_json_get(root, "engine"), &p->engine_name));
    const ridge_node draft = ridge_json_get(root, "draft_model");
    if (!ridge_json_is_absent(draft))
        RIDGE_TRY(ridge_json_want_text(cx, draft, &p->draft_name));
    RIDGE_TRY(read_work(cx, root, &p->work));
    RIDGE_TRY(read_goals(cx, root, &p->goals));
    if (!ridge_json_is_absent(ridge_json_get(root, "aim")))
        RIDGE_TRY(want_word(cx, root, "aim", aims, RIDGE_SERVICE_AIM_COUNT, &aim));
    p->aim = (ridge_service_aim)aim;
    RIDGE_TRY(may_number(cx, root, "requests_per_s", 0, 1e12, &p->requests_per_s));
    RIDGE_TRY(may_number(cx, root, "usd_per_chip_hour", 0, 1e9, &p->usd_per_chip_hour));
    return may_number(cx, root, "expert_skew", 0, 1e6, &p->expert_skew);
}

/* ---- pools ----------------------------------------------------------------------- */

static ridge_status read_formats(ridge_ctx *cx, const ridge_node *pool,
                                 ridge_serving_formats *f)
{
    static const char *const known[] = {"weights",        "experts",     "compute",
                                        "expert_compute", "activations", "cache",
                                        "attention",      "group"};
    const ridge_node o = ridge_json_get(pool, "dtypes");
    RIDGE_TRY(ridge_json_only(cx, o, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(want_dtype(cx, &o, "weights", &f->weight));
    RIDGE_TRY(want_dtype(cx, &o, "experts", &f->expert));
    RIDGE_TRY(want_dtype(cx, &o, "compute", &f->compute));
    RIDGE_TRY(want_dtype(cx, &o, "expert_compute", &f->expert_compute));
    RIDGE_TRY(want_dtype(cx, &o, "activations", &f->activation));
    RIDGE_TRY(want_dtype(cx, &o, "cache", &f->cache));
    RIDGE_TRY(want_dtype(cx, &o, "attention", &f->attention));
    return ridge_json_want_i64(cx, ridge_json_get(&o, "group"), 0, DEGREE_MOST,
                               &f->group);
}

static ridge_status read_draft(ridge_ctx *cx, const ridge_node *pool, ridge_draft *d)
{
    static const char *const known[] = {"kind", "depth", "nodes", "accept"};
    int kind = 0;
    const ridge_node o = ridge_json_get(pool, "draft");
    *d = (ridge_draft){.kind = RIDGE_DRAFT_NONE};
    if (ridge_json_is_absent(o))
        return RIDGE_OK;
    RIDGE_TRY(ridge_json_only(cx, o, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(want_word(cx, &o, "kind", drafts, RIDGE_COUNT_OF(drafts), &kind));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&o, "depth"), 1,
                                  RIDGE_DRAFT_DEPTH_MAX, &d->depth));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(&o, "nodes"), d->depth,
                                  DEGREE_MOST, &d->nodes));
    const ridge_node accept = ridge_json_get(&o, "accept");
    if ((int64_t)ridge_json_size(accept) != d->depth)
        return ridge_json_fail(cx, accept,
                               "expected a chance for each of %lld positions",
                               (long long)d->depth);
    for (int64_t i = 0; i < d->depth; i++)
        RIDGE_TRY(ridge_json_want_double(cx, ridge_json_at(&accept, (size_t)i), 0, 1,
                                         &d->accept[i]));
    d->kind = (ridge_draft_kind)kind;
    return RIDGE_OK;
}

static ridge_status read_mesh(ridge_ctx *cx, const ridge_node *pool,
                              ridge_serving_layout *l)
{
    static const char *const known[] = {"tp", "pp", "ep", "attention_dp", "tp_d"};
    const ridge_node mesh = ridge_json_get(pool, "mesh");
    int64_t chips;
    RIDGE_TRY(ridge_json_only(cx, mesh, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(want_count(cx, &mesh, "tp", 1, &l->tp));
    RIDGE_TRY(want_count(cx, &mesh, "pp", 1, &l->pp));
    RIDGE_TRY(want_count(cx, &mesh, "ep", 1, &l->ep));
    RIDGE_TRY(want_count(cx, &mesh, "attention_dp", 1, &l->attention_dp));
    const ridge_node tp_d = ridge_json_get(&mesh, "tp_d");
    if (!ridge_json_is_absent(tp_d))
        RIDGE_TRY(ridge_json_want_i64(cx, tp_d, 1, l->tp, &l->tp_d));
    if (!ridge_mul_i64(l->tp, l->attention_dp, &chips) || chips % l->ep != 0)
        return ridge_json_fail(cx, mesh, "ep must divide tp x attention_dp");
    if (!ridge_mul_i64(chips, l->pp, &chips) || chips > DEGREE_MOST)
        return ridge_json_fail(cx, mesh, "the degrees multiply to too many chips");
    return RIDGE_OK;
}

/* Written for readers: it has to be what the degrees make. */
static ridge_status check_chips(ridge_ctx *cx, const ridge_node *pool,
                                const ridge_serving_layout *l)
{
    const ridge_node node = ridge_json_get(pool, "chips_per_server");
    const int64_t chips = l->tp * l->attention_dp * l->pp;
    int64_t written = chips;
    if (!ridge_json_is_absent(node))
        RIDGE_TRY(want_count(cx, pool, "chips_per_server", 1, &written));
    return written == chips
               ? RIDGE_OK
               : ridge_json_fail(cx, node,
                                 "%lld, but tp x pp x attention_dp of the mesh is %lld",
                                 (long long)written, (long long)chips);
}

static ridge_status read_layout(ridge_ctx *cx, const ridge_node *pool,
                                ridge_serving_layout *l)
{
    int cut;
    int64_t placement = 0;
    RIDGE_TRY(read_mesh(cx, pool, l));
    RIDGE_TRY(check_chips(cx, pool, l));
    RIDGE_TRY(want_word(cx, pool, "kv_cut", cuts, RIDGE_COUNT_OF(cuts), &cut));
    l->kv_cut = (ridge_kv_cut)cut;
    const ridge_node gathered = ridge_json_get(pool, "weight_gathered");
    if (!ridge_json_bool(gathered, &l->is_weight_gathered))
        return ridge_json_fail(cx, gathered, "expected true or false");
    const ridge_node halves = ridge_json_get(pool, "two_batches");
    if (!ridge_json_is_absent(halves) && !ridge_json_bool(halves, &l->has_two_batches))
        return ridge_json_fail(cx, halves, "expected true or false");
    const ridge_node redundant = ridge_json_get(pool, "redundant_experts");
    if (!ridge_json_is_absent(redundant))
        RIDGE_TRY(ridge_json_want_i64(cx, redundant, 0, RIDGE_EXPERT_SLOTS_MAX,
                                      &l->redundant_experts));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(pool, "placement_index"), 0, 11,
                                  &placement));
    l->placement = (int)placement;
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(pool, "sequences"), 1,
                                  (int64_t)TOKENS_MOST, &l->sequences));
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(pool, "budget_tokens"), 1,
                                  (int64_t)TOKENS_MOST, &l->budget_tokens));
    RIDGE_TRY(read_formats(cx, pool, &l->formats));
    return read_draft(cx, pool, &l->draft);
}

static ridge_status read_pool(ridge_ctx *cx, const ridge_node *pools, int index, int n,
                              ridge_service_pool *out)
{
    static const char *const known[] = {"role",
                                        "servers",
                                        "chips_per_server",
                                        "batch",
                                        "mesh",
                                        "kv_cut",
                                        "weight_gathered",
                                        "two_batches",
                                        "redundant_experts",
                                        "sequences",
                                        "budget_tokens",
                                        "placement_index",
                                        "dtypes",
                                        "draft"};
    const ridge_node pool = ridge_json_at(pools, (size_t)index);
    const char *roles[RIDGE_SERVICE_ROLE_COUNT];
    int role;
    RIDGE_TRY(ridge_json_only(cx, pool, known, RIDGE_COUNT_OF(known)));
    for (int i = 0; i < RIDGE_SERVICE_ROLE_COUNT; i++)
        roles[i] = ridge_service_role_text((ridge_service_role)i);
    RIDGE_TRY(want_word(cx, &pool, "role", roles, RIDGE_SERVICE_ROLE_COUNT, &role));
    if (role != (n == 1 ? RIDGE_SERVICE_ROLE_BOTH : RIDGE_SERVICE_ROLE_PREFILL + index))
        return ridge_json_fail(cx, ridge_json_get(&pool, "role"),
                               "expected one pool of \"server\", or \"prefill\" and "
                               "\"decode\"");
    out->role = (ridge_service_role)role;
    RIDGE_TRY(want_count(cx, &pool, "servers", 1, &out->servers));
    RIDGE_TRY(ridge_json_want_double(cx, ridge_json_get(&pool, "batch"), 1e-9,
                                     DEGREE_MOST, &out->batch));
    return read_layout(cx, &pool, &out->layout);
}

static ridge_status read_pools(ridge_ctx *cx, const ridge_node *root,
                               ridge_service_choice *c)
{
    const ridge_node pools = ridge_json_get(root, "pools");
    const size_t n = ridge_json_size(pools);
    if (ridge_json_kind_of(pools) != RIDGE_JSON_ARRAY || n < 1 || n > 2)
        return ridge_json_fail(cx, pools, "expected an array of one pool or two");
    c->n_pools = (int)n;
    c->mode = n == 1 ? RIDGE_SERVICE_MODE_AGGREGATED : RIDGE_SERVICE_MODE_DISAGGREGATED;
    const ridge_node mode = ridge_json_get(root, "mode");
    const char *text;
    if (!ridge_json_is_absent(mode) &&
        (!ridge_json_text(mode, &text) ||
         strcmp(text, ridge_service_mode_text(c->mode)) != 0))
        return ridge_json_fail(cx, mode, "expected \"%s\" of %zu pool%s",
                               ridge_service_mode_text(c->mode), n, n == 1 ? "" : "s");
    for (int i = 0; i < c->n_pools; i++)
        RIDGE_TRY(read_pool(cx, &pools, i, c->n_pools, &c->pools[i]));
    return RIDGE_OK;
}

/* ---- files ----------------------------------------------------------------------- */

bool ridge_plan_is_service(ridge_node root)
{
    const char *kind;
    return ridge_json_text(ridge_json_get(&root, "kind"), &kind) &&
           strcmp(kind, "serve") == 0;
}

static ridge_status check_format(ridge_ctx *cx, const ridge_node *root)
{
    const char *format;
    int64_t version;
    if (!ridge_json_text(ridge_json_get(root, "format"), &format) ||
        strcmp(format, "ridge-plan") != 0 || !ridge_plan_is_service(*root))
        return ridge_json_fail(
            cx, *root,
            "no serving plan: expected \"format\": \"ridge-plan\" and "
            "\"kind\": \"serve\", as written by `ridge serve ... "
            "--plan FILE`");
    RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_get(root, "version"), 1, INT32_MAX,
                                  &version));
    if (version > PLAN_VERSION)
        return ridge_json_fail(cx, ridge_json_get(root, "version"),
                               "version %lld is newer than this program knows (%d)",
                               (long long)version, PLAN_VERSION);
    return RIDGE_OK;
}

ridge_status ridge_service_plan_from_json(ridge_ctx *cx, ridge_node root,
                                          ridge_service_plan *out)
{
    /* What nobody reads would change nothing, in silence. */
    static const char *const known[] = {
        "format",      "version", "kind",           "model",
        "slice",       "engine",  "draft_model",    "work",
        "goals",       "aim",     "mode",           "usd_per_chip_hour",
        "expert_skew", "pools",   "requests_per_s", "predicted"};
    ridge_service_plan p = {.model_name = NULL};
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "no plan: expected an object");
    RIDGE_TRY(check_format(cx, &root));
    RIDGE_TRY(ridge_json_only(cx, root, known, RIDGE_COUNT_OF(known)));
    RIDGE_TRY(read_asked(cx, &root, &p));
    RIDGE_TRY(read_pools(cx, &root, &p.choice));
    *out = p;
    return RIDGE_OK;
}

ridge_status ridge_service_plan_check(ridge_ctx *cx, const ridge_service_plan *plan,
                                      const ridge_slice *slice)
{
    const int64_t chips = ridge_service_choice_chips(&plan->choice);
    if (chips <= slice->chips)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "the plan's servers take %lld chips, and %s has %lld: use fewer "
                      "servers, smaller ones or a larger slice",
                      (long long)chips, slice->text, (long long)slice->chips);
}

ridge_status ridge_service_plan_read(ridge_ctx *cx, const char *path,
                                     ridge_service_plan *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(cx, path, &root));
    return ridge_service_plan_from_json(cx, root, out);
}
