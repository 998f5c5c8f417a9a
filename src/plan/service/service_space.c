#include "service_space.h"

#include "divisors.h"

#include "ridge/plan_speculation.h"

#include <math.h>

enum { BATCH_MOST_PLACES = 8 * 21 };

typedef struct builder {
    ridge_ctx *cx;
    const ridge_service_request *request;
    int64_t experts;  /* most of any layer; 0: none */
    int64_t kv_heads; /* least of any layer */
    service_space *space;
} builder;

/* Depths of drafts that are searched; a chain, or a tree as wide as told. */
static const int64_t depths[] = {0, 1, 2, 3, 4, 5, 6, 8};

static const double budgets_tried[] = {512, 1024, 2048, 4096, 8192, 16384};

/* ---- batches and budgets --------------------------------------------------------- */

double service_space_batch(int place)
{
    if (place < 0)
        return 1 / (double)((int64_t)1 << -place);
    if (place < 8)
        return place + 1;
    const int octave = (place - 8) / 8;
    const int eighth = (place - 8) % 8 + 1;
    return (double)((8 + eighth) * ((int64_t)1 << (octave > 20 ? 20 : octave)));
}

/* An iteration of prompts that are not cut has no more tokens than as many as it takes,
 * padded where the engine pads them. */
static double whole_prompts(const ridge_service_request *r, double own)
{
    const double each = r->engine->pads_prompts
                            ? pow(2, ceil(log2(r->work.prompt_tokens)))
                            : r->work.prompt_tokens;
    if (r->engine->prompts > 0)
        own = fmin(own, each * (double)r->engine->prompts);
    return fmax(own, each);
}

/* What the engine does unasked is tried too. Whole prompts need room for one. */
int service_space_budgets(const ridge_service_request *r,
                          double out[SERVICE_BUDGET_MAX])
{
    const ridge_engine_room room = ridge_engine_room_on(r->engine, r->slice->chip);
    const double own = (double)room.budget_tokens;
    int n = 0;
    if (r->knobs.budget_tokens > 0) {
        out[0] = (double)r->knobs.budget_tokens;
        return 1;
    }
    if (!r->engine->is_chunked) {
        out[0] = whole_prompts(r, own);
        return 1;
    }
    bool has_own = own <= 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(budgets_tried); i++) {
        if (!has_own && own <= budgets_tried[i]) {
            has_own = true;
            if (own < budgets_tried[i])
                out[n++] = own;
        }
        out[n++] = budgets_tried[i];
    }
    if (!has_own)
        out[n++] = own;
    return n;
}

int64_t service_space_servers(const ridge_service_request *r, ridge_service_role role,
                              int64_t chips)
{
    const int64_t there = r->slice->chips / chips;
    const int64_t asked = r->knobs.pools[role].servers;
    return asked == 0 ? there : asked <= there ? asked : 0;
}

/* ---- layouts --------------------------------------------------------------------- */

static bool add(builder *b, const service_layout *l)
{
    service_space *s = b->space;
    if (s->n == s->cap) {
        const int cap = s->cap == 0 ? 256 : 2 * s->cap;
        service_layout *grown =
            ridge_new(ridge_ctx_arena(b->cx), service_layout, (size_t)cap);
        if (grown == NULL)
            return false;
        for (int i = 0; i < s->n; i++)
            grown[i] = s->layouts[i];
        s->layouts = grown;
        s->cap = cap;
    }
    s->layouts[s->n++] = *l;
    return true;
}

static bool is_free_or(int64_t knob, int64_t value)
{
    return knob == 0 || knob == value;
}

/* Cuts of the cache that heads already make are no layouts of their own, and unasked
 * only those are searched that the engine makes. */
static bool is_cut_wanted(const builder *b, const ridge_service_pool_knobs *k,
                          ridge_service_role role, const ridge_serving_layout *l)
{
    const ridge_engine *e = b->request->engine;
    if (k->kv_cut != RIDGE_SERVICE_FREE)
        return k->kv_cut == (int)l->kv_cut;
    if (l->kv_cut == RIDGE_KV_CUT_HEADS)
        return true;
    if (l->tp <= b->kv_heads || role == RIDGE_SERVICE_ROLE_PREFILL)
        return false;
    return l->kv_cut == RIDGE_KV_CUT_BATCH ? e->cuts_sequences : e->cuts_tokens;
}

/* Weights are gathered, by engines that can, where prompts alone are served. */
static bool is_gathering_wanted(const builder *b, const ridge_service_pool_knobs *k,
                                ridge_service_role role, const ridge_serving_layout *l)
{
    if (k->is_gathered != RIDGE_SERVICE_FREE)
        return k->is_gathered == (int)l->is_weight_gathered;
    return !l->is_weight_gathered || (role == RIDGE_SERVICE_ROLE_PREFILL && l->tp > 1 &&
                                      b->request->engine->gathers_weights);
}

/* Halves hide exchanges of attention ranks, where the engine makes them. */
static bool is_splitting_wanted(const builder *b, const ridge_service_pool_knobs *k,
                                const ridge_serving_layout *l)
{
    if (k->has_two_batches != RIDGE_SERVICE_FREE)
        return k->has_two_batches == (int)l->has_two_batches;
    return !l->has_two_batches ||
           (l->attention_dp > 1 && b->request->engine->splits_batches);
}

/* Copies of hot experts, where the engine makes them or knobs ask for them. */
static bool is_replicating_wanted(const builder *b, const ridge_service_pool_knobs *k,
                                  const ridge_serving_layout *l)
{
    if (k->redundant > 0)
        return k->redundant == l->redundant_experts + 1;
    return l->redundant_experts == 0 || b->request->engine->replicates_experts;
}

/* Knobs that ask for what the engine lacks are refused before. */
static bool is_engine_able(const builder *b, const ridge_service_pool_knobs *k,
                           const ridge_serving_layout *l)
{
    const ridge_engine *e = b->request->engine;
    if ((e->lacks_stages && l->pp > 1) ||
        (e->lacks_attention_dp && l->attention_dp > 1))
        return false;
    return !e->deals_over_all || k->ep > 0 || l->ep == 1 ||
           l->ep == l->tp * l->attention_dp;
}

/* Whether a pool's knobs allow a layout. */
static bool is_wanted(const builder *b, ridge_service_role role,
                      const ridge_serving_layout *l)
{
    const ridge_service_pool_knobs *k = &b->request->knobs.pools[role];
    if (!is_free_or(k->tp, l->tp) || !is_free_or(k->pp, l->pp) ||
        !is_free_or(k->ep, l->ep) || !is_free_or(k->attention_dp, l->attention_dp))
        return false;
    if (k->attention_dp == 0 && l->attention_dp > 1 && b->experts == 0)
        return false;
    if (l->tp_d != (k->tp_d > 1 ? k->tp_d : 0) ||
        (k->placement > 0 && k->placement != l->placement + 1))
        return false;
    return is_engine_able(b, k, l) && is_cut_wanted(b, k, role, l) &&
           is_gathering_wanted(b, k, role, l) && is_splitting_wanted(b, k, l) &&
           is_replicating_wanted(b, k, l);
}

/* A server takes part of the slice; of two pools each leaves room for the other. */
static bool has_room(const builder *b, ridge_service_role role, int64_t chips)
{
    const ridge_service_request *r = b->request;
    if (service_space_servers(r, role, chips) == 0)
        return false;
    return role == RIDGE_SERVICE_ROLE_BOTH || chips < r->slice->chips;
}

static bool is_role_wanted(const builder *b, int role)
{
    const ridge_service_request *r = b->request;
    const bool is_two = role != RIDGE_SERVICE_ROLE_BOTH;
    if (is_two && (r->work.output_tokens <= 1 || r->engine->lacks_pools))
        return false;
    if (r->knobs.mode == RIDGE_SERVICE_MODE_ANY)
        return true;
    return is_two == (r->knobs.mode == RIDGE_SERVICE_MODE_DISAGGREGATED);
}

/* Drafting is for decoding: prefill servers have none. */
static bool set_roles(const builder *b, service_layout *l)
{
    const int64_t chips = ridge_serving_layout_chips(&l->layout);
    bool is_any = false;
    for (int role = 0; role < RIDGE_SERVICE_ROLE_COUNT; role++) {
        const ridge_service_role of = (ridge_service_role)role;
        l->is_for[role] = is_role_wanted(b, role) && has_room(b, of, chips) &&
                          is_wanted(b, of, &l->layout);
        if (of == RIDGE_SERVICE_ROLE_PREFILL && l->layout.draft.depth > 0)
            l->is_for[role] = false;
        is_any = is_any || l->is_for[role];
    }
    return is_any;
}

/* The best tree of a depth, as what its levels accept. @return false: no memory, or
 * none is as deep */
static bool set_tree(builder *b, int64_t depth, ridge_draft *draft, bool *is_deep)
{
    enum { RANKS = 4 }; /* of which something is published */
    const ridge_service_knobs *k = &b->request->knobs;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(b->cx));
    ridge_tree *tree = ridge_new(ridge_ctx_scratch(b->cx), ridge_tree, 1);
    const ridge_tree_odds odds =
        ridge_tree_odds_of(k->draft.accept, depth, RANKS, k->tree_next);
    const bool is_found = tree != NULL && ridge_tree_find(b->cx, &odds, k->draft.nodes,
                                                          depth, tree) == RIDGE_OK;
    *is_deep = is_found && tree->depth == depth;
    if (*is_deep) {
        ridge_tree_acceptance(tree, &odds, draft->accept);
        draft->nodes = tree->nodes;
    }
    ridge_arena_rewind(ridge_ctx_scratch(b->cx), mark);
    return is_found;
}

static bool add_drafts(builder *b, service_layout *l)
{
    const ridge_service_knobs *k = &b->request->knobs;
    for (size_t i = 0; i < RIDGE_COUNT_OF(depths); i++) {
        const bool is_fixed = k->depth != RIDGE_SERVICE_FREE;
        const int64_t depth = is_fixed ? k->depth : depths[i];
        l->layout.draft = k->draft;
        l->layout.draft.depth = depth;
        l->layout.draft.nodes = k->draft.nodes > 0 && is_fixed ? k->draft.nodes : depth;
        bool is_deep = true;
        if (depth > 0 && k->tree_next > 0 && k->draft.nodes > depth &&
            !set_tree(b, depth, &l->layout.draft, &is_deep))
            return false;
        if (!is_deep && !is_fixed)
            continue;
        if (depth == 0)
            l->layout.draft = (ridge_draft){.kind = RIDGE_DRAFT_NONE};
        if (set_roles(b, l) && !add(b, l))
            return false;
        if (is_fixed || k->draft.kind == RIDGE_DRAFT_NONE)
            return true;
    }
    return true;
}

/* Orders of a torus's axes, where they are not alike. */
static int placements(const ridge_slice *slice)
{
    for (int i = 1; i < slice->n_axes; i++) {
        const ridge_axis *a = &slice->axes[0];
        const ridge_axis *z = &slice->axes[i];
        if (z->kind == RIDGE_AXIS_TORUS &&
            (a->size != z->size || a->has_wraparound != z->has_wraparound))
            return ridge_serving_placement_count(slice);
    }
    return 1;
}

/* Feed-forwards cut on one axis, or on two as a pool's knobs say. */
static bool add_widths(builder *b, service_layout *l)
{
    int64_t last = -1;
    for (int role = -1; role < RIDGE_SERVICE_ROLE_COUNT; role++) {
        const int64_t asked = role < 0 ? 0 : b->request->knobs.pools[role].tp_d;
        l->layout.tp_d = asked > 1 ? asked : 0;
        if (l->layout.tp_d == last || (role >= 0 && l->layout.tp_d == 0))
            continue;
        last = l->layout.tp_d;
        if (!add_drafts(b, l))
            return false;
    }
    return true;
}

/* Every format, cut of the cache, placement, weights that stay or are gathered, batches
 * whole or in halves. */
static bool add_variants(builder *b, service_layout *l)
{
    const ridge_service_knobs *k = &b->request->knobs;
    const int n_placements = placements(b->request->slice);
    for (int f = 0; f < k->n_formats; f++) {
        l->format = f;
        l->layout.formats = k->formats[f];
        for (int v = 0; v < 12 * n_placements; v++) {
            l->layout.kv_cut = (ridge_kv_cut)(v % 3);
            l->layout.is_weight_gathered = v / 3 % 2 == 1;
            l->layout.has_two_batches = v / 6 % 2 == 1;
            l->layout.placement = v / 12;
            if (!add_widths(b, l))
                return false;
        }
    }
    return true;
}

enum { COPIES_MAX = 2 + RIDGE_SERVICE_ROLE_COUNT };

/* Copies of hot experts that are tried: none; as many as ep is short of, or one on each
 * chip where loads are unequal; what knobs say. */
static int copies_tried(const builder *b, int64_t ep, int64_t out[COPIES_MAX])
{
    const int64_t missing = ridge_ceil_div(b->experts, ep) * ep - b->experts;
    int n = 0;
    out[n++] = 0;
    if (ep <= 1)
        return n;
    if (missing > 0)
        out[n++] = missing;
    else if (b->request->expert_skew > 0)
        out[n++] = ep;
    for (int role = 0; role < RIDGE_SERVICE_ROLE_COUNT; role++) {
        const int64_t asked = b->request->knobs.pools[role].redundant - 1;
        bool is_new = asked > 0;
        for (int i = 0; i < n; i++)
            is_new = is_new && out[i] != asked;
        if (is_new)
            out[n++] = asked;
    }
    return n;
}

static bool add_experts(builder *b, service_layout *l, const divisors *ways)
{
    for (int i = 0; i < ways->n; i++) {
        int64_t copies[COPIES_MAX];
        l->layout.ep = ways->values[i];
        if (l->layout.ep > 1 && b->experts == 0)
            break;
        const int n = copies_tried(b, l->layout.ep, copies);
        for (int c = 0; c < n; c++) {
            l->layout.redundant_experts = copies[c];
            if (!add_variants(b, l))
                return false;
        }
    }
    return true;
}

static bool add_server(builder *b, int64_t chips)
{
    ridge_arena *arena = ridge_ctx_arena(b->cx);
    divisors stages;
    if (!divisors_of(arena, chips, &stages))
        return false;
    for (int i = 0; i < stages.n; i++) {
        divisors ways;
        service_layout l = {.layout.pp = stages.values[i]};
        if (l.layout.pp > b->request->model->layer_count)
            break;
        if (!divisors_of(arena, chips / l.layout.pp, &ways))
            return false;
        for (int j = 0; j < ways.n; j++) {
            l.layout.tp = ways.values[j];
            l.layout.attention_dp = chips / l.layout.pp / l.layout.tp;
            if (!add_experts(b, &l, &ways))
                return false;
        }
    }
    return true;
}

static void read_model(builder *b)
{
    const ridge_model *m = b->request->model;
    b->kv_heads = INT64_MAX;
    for (int i = 0; i < m->n_layers; i++) {
        const ridge_mixer *x = &m->layers[i].mixer;
        const ridge_ffn *ffn = &m->layers[i].ffn;
        if (ffn->kind == RIDGE_FFN_MOE && ffn->experts > b->experts)
            b->experts = ffn->experts;
        const int64_t heads = x->kind == RIDGE_MIXER_MLA ? 1 : x->kv_heads;
        if ((x->kind == RIDGE_MIXER_MLA || x->kind == RIDGE_MIXER_ATTENTION) &&
            heads < b->kv_heads)
            b->kv_heads = heads;
    }
}

/* Servers of knobs that say all degrees may have other numbers of chips. */
static int64_t chips_asked(const ridge_service_pool_knobs *k)
{
    return k->tp > 0 && k->pp > 0 && k->attention_dp > 0
               ? k->tp * k->pp * k->attention_dp
               : 0;
}

/* Beside divisors, powers of two: sixteen of 72 chips decode where eight prefill. Where
 * such a server has no place, its layouts are refused. */
static bool add_powers(builder *b, int64_t chips)
{
    const ridge_slice *slice = b->request->slice;
    for (int64_t size = 2; size < chips; size *= 2) {
        if (chips % size != 0 && slice->axes[0].kind != RIDGE_AXIS_TORUS &&
            !add_server(b, size))
            return false;
    }
    return true;
}

ridge_status service_space_build(ridge_ctx *cx, const ridge_service_request *request,
                                 service_space *out)
{
    builder b = {.cx = cx, .request = request, .space = out};
    const int64_t chips = request->slice->chips;
    divisors sizes;
    *out = (service_space){.n = 0};
    read_model(&b);
    if (!divisors_of(ridge_ctx_arena(cx), chips, &sizes))
        return ridge_fail_nomem(cx);
    for (int i = 0; i < sizes.n; i++) {
        if (!add_server(&b, sizes.values[i]))
            return ridge_fail_nomem(cx);
    }
    if (!add_powers(&b, chips))
        return ridge_fail_nomem(cx);
    for (int role = 0; role < RIDGE_SERVICE_ROLE_COUNT; role++) {
        const int64_t asked = chips_asked(&request->knobs.pools[role]);
        bool is_new = asked > 0 && asked <= chips && chips % asked != 0 &&
                      (asked & (asked - 1)) != 0;
        for (int before = 0; before < role; before++)
            is_new = is_new && chips_asked(&request->knobs.pools[before]) != asked;
        if (is_new && !add_server(&b, asked))
            return ridge_fail_nomem(cx);
    }
    return RIDGE_OK;
}
