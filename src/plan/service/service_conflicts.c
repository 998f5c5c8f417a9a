#include "service_conflicts.h"

#include <math.h>
#include <string.h>

/* name of the knob, field */
/* clang-format off */
#define POOL_KNOBS(X)               \
    X("tp", tp)                     \
    X("pp", pp)                     \
    X("ep", ep)                     \
    X("attention_dp", attention_dp) \
    X("tp_d", tp_d)                 \
    X("placement", placement)       \
    X("kv_cut", kv_cut)             \
    X("gathered", is_gathered)      \
    X("overlap", has_two_batches)   \
    X("redundant", redundant)       \
    X("servers", servers)
/* clang-format on */

#define KNOB_NAME(name, field) name,
static const char *const names[] = {POOL_KNOBS(KNOB_NAME)};
#undef KNOB_NAME
enum { KNOBS = RIDGE_COUNT_OF(names) };

static bool is_equal(const ridge_service_pool_knobs *a,
                     const ridge_service_pool_knobs *b, int knob)
{
    int i = 0;
#define KNOB_EQUAL(name, field)                                                        \
    if (knob == i++)                                                                   \
        return a->field == b->field;
    POOL_KNOBS(KNOB_EQUAL)
#undef KNOB_EQUAL
    return true;
}

static void copy(const ridge_service_pool_knobs *from, int knob,
                 ridge_service_pool_knobs *to)
{
    int i = 0;
#define KNOB_COPY(name, field)                                                         \
    if (knob == i++)                                                                   \
        to->field = from->field;
    POOL_KNOBS(KNOB_COPY)
#undef KNOB_COPY
}

/* ---- against each other -----------------------------------------------------------
 */

static ridge_status check_pools(ridge_ctx *cx, const ridge_service_knobs *k)
{
    const ridge_service_pool_knobs none = ridge_service_knobs_free().pools[0];
    if (k->mode != RIDGE_SERVICE_MODE_AGGREGATED)
        return RIDGE_OK;
    for (int role = RIDGE_SERVICE_ROLE_PREFILL; role < RIDGE_SERVICE_ROLE_COUNT;
         role++) {
        for (int i = 0; i < KNOBS; i++) {
            /* tp= is of all pools */
            if (!is_equal(&k->pools[role], &none, i) &&
                !is_equal(&k->pools[role], &k->pools[RIDGE_SERVICE_ROLE_BOTH], i))
                return ridge_fail(
                    cx, RIDGE_E_ARG,
                    "%s_%s= is of two pools and mode=aggregated has one: leave one "
                    "of them out",
                    ridge_service_role_text((ridge_service_role)role), names[i]);
        }
    }
    return RIDGE_OK;
}

static ridge_status check_experts(ridge_ctx *cx, const ridge_service_request *r)
{
    const ridge_service_knobs *k = &r->knobs;
    const char *what = r->expert_skew > 0 ? "a skew of expert loads" : NULL;
    for (int role = 0; role < RIDGE_SERVICE_ROLE_COUNT && what == NULL; role++)
        what = k->pools[role].ep > 1          ? "ep="
               : k->pools[role].redundant > 1 ? "redundant=" /* kept plus one */
                                              : NULL;
    if (what == NULL && k->expert_text != NULL)
        what = "experts=";
    if (what == NULL || ridge_model_has_experts(r->model))
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG, "%s is of experts and %s has none: leave it out",
                      what, r->model->name);
}

/* Degrees and pools that the engine has not. */
static ridge_status check_engine(ridge_ctx *cx, const ridge_service_request *r)
{
    const ridge_engine *e = r->engine;
    const char *what =
        e->lacks_pools && r->knobs.mode == RIDGE_SERVICE_MODE_DISAGGREGATED
            ? "mode=disaggregated: "
            : NULL;
    const char *lacks = "servers that prefill for others";
    for (int role = 0; role < RIDGE_SERVICE_ROLE_COUNT && what == NULL; role++) {
        const ridge_service_pool_knobs *k = &r->knobs.pools[role];
        if (e->lacks_stages && k->pp > 1) {
            what = "pp=: ";
            lacks = "pipelines";
        } else if (e->lacks_attention_dp && k->attention_dp > 1) {
            what = "attention_dp=: ";
            lacks = "attention ranks with sequences of their own";
        }
    }
    if (what == NULL)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s%s has no %s: leave it out, or name another --engine", what,
                      e->name, lacks);
}

/* Padded tables of one family differ by less. */
static const double VOCAB_NEAR = 0.05;

/* Engines take only drafts of the same tokens. */
static ridge_status check_draft(ridge_ctx *cx, const ridge_service_request *r)
{
    const ridge_model *draft = r->knobs.draft.model;
    if (r->knobs.draft.kind != RIDGE_DRAFT_MODEL || draft == NULL)
        return RIDGE_OK;
    const double own = (double)r->model->vocab;
    if (fabs((double)draft->vocab - own) <= VOCAB_NEAR * own)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s has another vocabulary, of %lld tokens instead of %lld: what "
                      "it drafts cannot be verified; draft with a model of the family",
                      draft->name, (long long)draft->vocab, (long long)r->model->vocab);
}

ridge_status service_conflicts_check(ridge_ctx *cx, const ridge_service_request *r)
{
    if (r->knobs.depth > 0 && r->knobs.draft.kind == RIDGE_DRAFT_NONE)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "depth=%lld is of drafts: tell how tokens are drafted, as in "
                          "--draft eagle --accept 0.8",
                          (long long)r->knobs.depth);
    if (r->knobs.draft.nodes > 0 && r->knobs.draft.kind == RIDGE_DRAFT_NONE)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "nodes=%lld is of a tree of drafts: tell how tokens are "
                          "drafted, as in --draft eagle --accept 0.8",
                          (long long)r->knobs.draft.nodes);
    RIDGE_TRY(check_draft(cx, r));
    RIDGE_TRY(check_engine(cx, r));
    RIDGE_TRY(check_pools(cx, &r->knobs));
    return check_experts(cx, r);
}

/* ---- against the slice ------------------------------------------------------------
 */

static bool has_role(const service_space *space, ridge_service_role role)
{
    for (int i = 0; i < space->n; i++) {
        if (space->layouts[i].is_for[role])
            return true;
    }
    return false;
}

/* The first knob that, alone, leaves a pool without servers; KNOBS: none. */
static ridge_status find_knob(ridge_ctx *cx, const ridge_service_request *r,
                              ridge_service_role role, int *out)
{
    const ridge_service_pool_knobs none = ridge_service_knobs_free().pools[role];
    service_space space;
    for (*out = 0; *out < KNOBS; ++*out) {
        ridge_service_request alone = *r;
        if (is_equal(&r->knobs.pools[role], &none, *out))
            continue;
        for (int i = 0; i < RIDGE_SERVICE_ROLE_COUNT; i++)
            alone.knobs.pools[i] = none;
        copy(&r->knobs.pools[role], *out, &alone.knobs.pools[role]);
        RIDGE_TRY(service_space_build(cx, &alone, &space));
        if (!has_role(&space, role))
            return RIDGE_OK;
    }
    return RIDGE_OK;
}

static const char *advice_of(const char *name)
{
    if (strcmp(name, "servers") == 0)
        return "use fewer";
    return strcmp(name, "ep") == 0 ? "ep divides tp x attention_dp"
                                   : "degrees divide the chips";
}

static ridge_status fail_role(ridge_ctx *cx, const ridge_service_request *r,
                              ridge_service_role role)
{
    static const char *const which[] = {"", "prefill ", "decode "};
    const char *beside = role == RIDGE_SERVICE_ROLE_BOTH ? "" : " beside the others";
    int knob;
    RIDGE_TRY(find_knob(cx, r, role, &knob));
    if (knob < KNOBS)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no %sservers%s on the %lld chips of %s have the %s= that is "
                          "asked for: %s, or leave it out",
                          which[role], beside, (long long)r->slice->chips,
                          r->slice->text, names[knob], advice_of(names[knob]));
    return ridge_fail(cx, RIDGE_E_ARG,
                      "no %sservers%s on the %lld chips of %s have the degrees that "
                      "knobs ask for together: leave some of them out, or choose "
                      "divisors",
                      which[role], beside, (long long)r->slice->chips, r->slice->text);
}

/* Chips of the smallest servers of a pool, as many as are asked for. */
static int64_t least_chips(const ridge_service_request *r, const service_space *space,
                           ridge_service_role role)
{
    const int64_t asked = r->knobs.pools[role].servers;
    int64_t least = INT64_MAX;
    for (int i = 0; i < space->n; i++) {
        const int64_t chips = ridge_serving_layout_chips(&space->layouts[i].layout) *
                              (asked > 0 ? asked : 1);
        if (space->layouts[i].is_for[role] && chips < least)
            least = chips;
    }
    return least;
}

ridge_status service_conflicts_room(ridge_ctx *cx, const ridge_service_request *r,
                                    const service_space *space)
{
    if (space->n > 0 && r->knobs.mode != RIDGE_SERVICE_MODE_DISAGGREGATED)
        return RIDGE_OK;
    if (r->knobs.mode != RIDGE_SERVICE_MODE_DISAGGREGATED)
        return fail_role(cx, r, RIDGE_SERVICE_ROLE_BOTH);
    if (!has_role(space, RIDGE_SERVICE_ROLE_PREFILL))
        return fail_role(cx, r, RIDGE_SERVICE_ROLE_PREFILL);
    if (!has_role(space, RIDGE_SERVICE_ROLE_DECODE))
        return fail_role(cx, r, RIDGE_SERVICE_ROLE_DECODE);
    const int64_t prefill = least_chips(r, space, RIDGE_SERVICE_ROLE_PREFILL);
    const int64_t decode = least_chips(r, space, RIDGE_SERVICE_ROLE_DECODE);
    if (prefill + decode <= r->slice->chips)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "prefill servers take %lld chips at least and decode servers "
                      "%lld, and %s has %lld: leave out a knob, or take a larger slice",
                      (long long)prefill, (long long)decode, r->slice->text,
                      (long long)r->slice->chips);
}
