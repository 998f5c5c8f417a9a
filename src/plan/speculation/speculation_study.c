/*
 * When drafting pays: batches, depths and trees of one layout, priced. Verifying 1 + n
 * rows of a sequence is a decode iteration; drafting is the part that it says.
 */
#include "ridge/plan_speculation.h"

#include "serving_bench.h"

#include <math.h>
#include <string.h>

/* Sizes of trees that are tried. */
static const int64_t sizes[] = {1,  2,  3,  4,  6,  8,   12,  16,
                                24, 32, 48, 64, 96, 128, 192, 256};

/* What is published of further candidates is of the first four. */
enum { TREE_RANKS = 4, TREE_DEPTH_MOST = 8 };
enum { TREES_MOST = (int)RIDGE_COUNT_OF(sizes) * TREE_DEPTH_MOST };

typedef struct study_case {
    ridge_ctx *cx;
    const ridge_speculation_query *q;
    ridge_serving_layout layout; /* with the draft that is priced */
    int n_trees;
    ridge_tree *trees; /* [TREES_MOST] the best of each size and depth */
} study_case;

/* ---- prices ---------------------------------------------------------------------- */

static ridge_status price(study_case *c, double sequences, double context,
                          ridge_serving_step *out)
{
    const ridge_serving_load load = {.decode_sequences = sequences,
                                     .decode_context = context};
    return ridge_serving_step_price(c->q->desk, &c->layout, &load, out);
}

static void set_plain(study_case *c)
{
    c->layout.draft = (ridge_draft){.kind = RIDGE_DRAFT_NONE};
}

static void set_draft(study_case *c, int64_t depth, int64_t nodes)
{
    c->layout.draft = c->q->speculation.draft;
    c->layout.draft.depth = depth;
    c->layout.draft.nodes = nodes;
}

static void set_point(ridge_speculation_point *p, double tokens, double plain_s)
{
    p->tokens = tokens;
    p->tpot_s = p->iteration_s / tokens;
    p->speedup = plain_s / p->tpot_s;
}

static ridge_status price_chain(study_case *c, double batch, int64_t depth,
                                double plain_s, ridge_speculation_point *out)
{
    ridge_serving_step step;
    set_draft(c, depth, depth);
    RIDGE_TRY(price(c, batch, c->q->context_tokens, &step));
    *out = (ridge_speculation_point){.depth = depth,
                                     .nodes = depth,
                                     .iteration_s = step.expected_s,
                                     .draft_s = step.parts_s[RIDGE_SERVING_PART_DRAFT]};
    set_point(out, ridge_chain_tokens(c->q->speculation.draft.accept, depth), plain_s);
    return RIDGE_OK;
}

/* ---- trees ----------------------------------------------------------------------- */

static bool drafts_level_by_level(ridge_draft_kind kind)
{
    return kind == RIDGE_DRAFT_MODEL || kind == RIDGE_DRAFT_EAGLE ||
           kind == RIDGE_DRAFT_MTP;
}

/* Drafting a tree level by level: a pass for each level with as many rows as the level
 * before it has nodes, which share their sequence's cache. */
static ridge_status price_levels(study_case *c, double batch, const ridge_tree *tree,
                                 double *out)
{
    const ridge_engine *engine = c->q->desk->about.engine;
    const double ranks = (double)c->layout.attention_dp;
    double rows = 1;
    *out = 0;
    for (int i = 0; i < (int)tree->depth; i++) {
        ridge_serving_step step;
        set_draft(c, 1, 1);
        RIDGE_TRY(price(c, batch * rows, c->q->context_tokens / rows, &step));
        *out += step.parts_s[RIDGE_SERVING_PART_DRAFT] -
                serving_draft_engine_s(engine, &c->layout.draft, batch * rows * ranks);
        rows = (double)tree->width[i];
    }
    set_draft(c, tree->depth, tree->nodes);
    *out += serving_draft_engine_s(engine, &c->layout.draft, batch * ranks);
    return RIDGE_OK;
}

static ridge_status price_tree(study_case *c, double batch, const ridge_tree *tree,
                               double plain_s, ridge_speculation_point *out)
{
    ridge_serving_step step;
    set_draft(c, tree->depth, tree->nodes);
    RIDGE_TRY(price(c, batch, c->q->context_tokens, &step));
    *out = (ridge_speculation_point){.depth = tree->depth,
                                     .nodes = tree->nodes,
                                     .iteration_s = step.expected_s,
                                     .draft_s = step.parts_s[RIDGE_SERVING_PART_DRAFT]};
    if (drafts_level_by_level(c->layout.draft.kind)) {
        double draft_s;
        RIDGE_TRY(price_levels(c, batch, tree, &draft_s));
        out->iteration_s += draft_s - out->draft_s;
        out->draft_s = draft_s;
    }
    set_point(out, tree->tokens, plain_s);
    return RIDGE_OK;
}

/* The best tree of each size and depth: those of a batch are chosen from them. */
static ridge_status find_trees(study_case *c)
{
    const ridge_speculation_query *q = c->q;
    const int64_t deepest = q->deepest < TREE_DEPTH_MOST ? q->deepest : TREE_DEPTH_MOST;
    const ridge_tree_odds odds = ridge_tree_odds_of(
        q->speculation.draft.accept, deepest, TREE_RANKS, q->speculation.next);
    if (q->most_nodes < 1 || q->speculation.next <= 0)
        return RIDGE_OK;
    c->trees = ridge_new(ridge_ctx_arena(c->cx), ridge_tree, TREES_MOST);
    if (c->trees == NULL)
        return ridge_fail_nomem(c->cx);
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes) && sizes[i] <= q->most_nodes; i++) {
        for (int64_t depth = 1; depth <= deepest; depth++) {
            ridge_tree *tree = &c->trees[c->n_trees];
            RIDGE_TRY(ridge_tree_find(c->cx, &odds, sizes[i], depth, tree));
            c->n_trees += tree->depth == depth ? 1 : 0;
        }
    }
    return RIDGE_OK;
}

static ridge_status choose_tree(study_case *c, ridge_speculation_row *row)
{
    for (int i = 0; i < c->n_trees; i++) {
        ridge_speculation_point p;
        RIDGE_TRY(price_tree(c, row->batch, &c->trees[i], row->plain_s, &p));
        if (p.speedup <= row->tree.speedup)
            continue;
        row->tree = p;
        memcpy(row->widths, c->trees[i].width, sizeof row->widths);
    }
    return RIDGE_OK;
}

/* ---- rows ------------------------------------------------------------------------ */

/* The best depth at another context. */
static ridge_status fill_cell(study_case *c, double batch, double context,
                              ridge_speculation_cell *cell)
{
    ridge_serving_step step;
    *cell = (ridge_speculation_cell){.fits = batch * context <= c->q->cache_tokens,
                                     .speedup = 1};
    if (!cell->fits)
        return RIDGE_OK;
    set_plain(c);
    RIDGE_TRY(price(c, batch, context, &step));
    const double plain_s = step.expected_s;
    for (int64_t depth = 1; depth <= c->q->deepest; depth++) {
        set_draft(c, depth, depth);
        RIDGE_TRY(price(c, batch, context, &step));
        const double speedup =
            ridge_chain_tokens(c->q->speculation.draft.accept, depth) * plain_s /
            step.expected_s;
        if (speedup > cell->speedup) {
            cell->speedup = speedup;
            cell->depth = depth;
        }
    }
    return RIDGE_OK;
}

static ridge_status fill_row(study_case *c, double batch, ridge_speculation_row *row)
{
    ridge_serving_step plain;
    double most = 1;
    *row = (ridge_speculation_row){.batch = batch, .best = -1};
    set_plain(c);
    RIDGE_TRY(price(c, batch, c->q->context_tokens, &plain));
    row->plain_s = plain.expected_s;
    row->bound_by = plain.bound_by;
    for (int i = 0; i < (int)c->q->deepest; i++) {
        RIDGE_TRY(price_chain(c, batch, i + 1, row->plain_s, &row->chains[i]));
        if (row->chains[i].speedup > most) {
            most = row->chains[i].speedup;
            row->best = i;
        }
    }
    for (int i = 0; i < c->q->n_contexts; i++)
        RIDGE_TRY(fill_cell(c, batch, c->q->contexts[i], &row->contexts[i]));
    return choose_tree(c, row);
}

static ridge_status pays_at(study_case *c, double batch, bool *out)
{
    ridge_speculation_row row;
    ridge_serving_step plain;
    set_plain(c);
    RIDGE_TRY(price(c, batch, c->q->context_tokens, &plain));
    *out = false;
    for (int64_t depth = 1; depth <= c->q->deepest && !*out; depth++) {
        RIDGE_TRY(
            price_chain(c, batch, depth, plain.expected_s, &row.chains[depth - 1]));
        *out = row.chains[depth - 1].speedup > 1;
    }
    return RIDGE_OK;
}

/* Where the last batch that pays ends, between two of the rows. */
static ridge_status find_stop(study_case *c, ridge_speculation_study *s)
{
    int last = s->n_rows - 1;
    while (last >= 0 && s->rows[last].best < 0)
        last--;
    s->stops_at = last < 0 ? 0 : INFINITY;
    if (last < 0 || last == s->n_rows - 1)
        return RIDGE_OK;
    double low = s->rows[last].batch;
    double high = s->rows[last + 1].batch;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        bool pays;
        RIDGE_TRY(pays_at(c, middle, &pays));
        if (pays) {
            low = middle;
        } else {
            high = middle;
        }
    }
    s->stops_at = high;
    return RIDGE_OK;
}

/* One acceptance for all positions with which a depth makes just the tokens that its
 * iteration costs: the least over the depths. */
static double floor_of(const ridge_speculation_row *row, int64_t deepest)
{
    double least = 1;
    for (int i = 0; i < (int)deepest; i++) {
        const double tokens = row->chains[i].iteration_s / row->plain_s;
        if (tokens < (double)(i + 2))
            least = fmin(least, ridge_chain_acceptance(tokens, i + 1));
    }
    return least;
}

static ridge_status check(ridge_ctx *cx, const ridge_speculation_query *q)
{
    if (q->speculation.draft.kind == RIDGE_DRAFT_NONE)
        return ridge_fail(cx, RIDGE_E_ARG, "nothing drafts: name a kind");
    if (q->deepest < 1 || q->deepest > RIDGE_STUDY_DEPTHS_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "drafts of %lld positions: 1 to %d are studied",
                          (long long)q->deepest, RIDGE_STUDY_DEPTHS_MAX);
    }
    if (q->n_batches < 1 || q->n_batches > RIDGE_STUDY_BATCHES_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "%d batches: 1 to %d are studied",
                          q->n_batches, RIDGE_STUDY_BATCHES_MAX);
    if (q->n_contexts < 0 || q->n_contexts > RIDGE_STUDY_CONTEXTS_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "%d contexts: up to %d are studied",
                          q->n_contexts, RIDGE_STUDY_CONTEXTS_MAX);
    for (int i = 0; i < q->n_batches; i++) {
        if (!(q->batches[i] > (i > 0 ? q->batches[i - 1] : 0)))
            return ridge_fail(cx, RIDGE_E_ARG, "batches have to ascend from above 0");
    }
    return RIDGE_OK;
}

ridge_status ridge_speculation_study_run(ridge_ctx *cx,
                                         const ridge_speculation_query *q,
                                         ridge_speculation_study *out)
{
    study_case c = {.cx = cx, .q = q, .layout = *q->layout};
    RIDGE_TRY(check(cx, q));
    memset(out, 0, sizeof *out);
    out->deepest = q->deepest;
    RIDGE_TRY(find_trees(&c));
    for (int i = 0; i < q->n_batches; i++)
        RIDGE_TRY(fill_row(&c, q->batches[i], &out->rows[out->n_rows++]));
    out->floor_acceptance = floor_of(&out->rows[0], q->deepest);
    return find_stop(&c, out);
}
