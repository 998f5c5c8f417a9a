/*
 * Speculative decoding: what acceptance is worth in tokens, which trees of drafts are
 * best, the rules that keep a model's distribution, and when drafting pays: speed-up
 * over batch, context and depth, from priced iterations.
 *
 * Legend: K positions drafted; a an acceptance, the chance that a drafted token is
 * accepted when those before it are.
 */
#ifndef RIDGE_PLAN_SPECULATION_H
#define RIDGE_PLAN_SPECULATION_H

#include "ridge/base.h"
#include "ridge/plan_serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- chains ---------------------------------------------------------------------- */

/**
 * Tokens that one iteration makes in the mean: those accepted and the model's own.
 *
 *     1 + a1 + a1 a2 + ... + a1 ... aK;  with one a: (1 - a^(K+1)) / (1 - a)
 *
 * @param accept  [depth] each in [0, 1]. @param depth  K >= 0. Cannot fail.
 * @source leviathan2023, equation 1
 */
double ridge_chain_tokens(const double *accept, int64_t depth);

/** Chance that an iteration makes exactly 1 + i tokens. @param out  [depth + 1] */
void ridge_chain_chances(const double *accept, int64_t depth, double *out);

/** The one acceptance with which a chain makes that many tokens: what a published mean
 * length says. @param tokens  1 to depth + 1. @return in [0, 1]; by bisection */
double ridge_chain_acceptance(double tokens, int64_t depth);

/* ---- trees ----------------------------------------------------------------------- */

enum { RIDGE_TREE_RANKS_MAX = 16, RIDGE_TREE_NODES_MAX = 256 };

/**
 * Chances of candidates: at each depth, that the candidate of a rank is the accepted
 * one when its parent is. They exclude each other, so those of a depth sum to at
 * most 1.
 */
typedef struct ridge_tree_odds {
    int64_t depth; /* levels that are drafted, <= RIDGE_DRAFT_DEPTH_MAX */
    int64_t ranks; /* candidates of a node, <= RIDGE_TREE_RANKS_MAX */
    double chance[RIDGE_DRAFT_DEPTH_MAX][RIDGE_TREE_RANKS_MAX];
} ridge_tree_odds;

/**
 * Odds of which just the first rank's are known: each further candidate has the chance
 * @p next of what the ones before it leave.
 *
 *     c1 = a,  ck = (1 - a) (1 - next)^(k-2) next
 *
 * @param next  in [0, 1); 0: chains alone are worth anything
 */
ridge_tree_odds ridge_tree_odds_of(const double *accept, int64_t depth, int64_t ranks,
                                   double next);

/** A tree of drafts, without its root: nodes in the order of levels. */
typedef struct ridge_tree {
    int64_t nodes;
    int64_t depth;                        /* levels that have nodes */
    int64_t width[RIDGE_DRAFT_DEPTH_MAX]; /* nodes of each level */
    int parent[RIDGE_TREE_NODES_MAX];     /* index of a node, -1: the root */
    int rank[RIDGE_TREE_NODES_MAX];       /* among its parent's candidates, from 0 */
    int level[RIDGE_TREE_NODES_MAX];      /* from 0 */
    double tokens; /* of an iteration in the mean, the model's own with them */
} ridge_tree;

/**
 * The tree of up to so many nodes and levels that makes most tokens.
 *
 * Solved as a table over levels left, ranks left and nodes left: the best below a node
 * is the best split of its nodes among its candidates.
 *
 *     best(d, k, n) = max over m < n of c_dk (1 + best(d+1, 0, m)) + best(d, k+1,
 * n-1-m)
 *
 * @param nodes  1 to RIDGE_TREE_NODES_MAX. @param depth  1 to odds->depth
 * @errors E_NOMEM
 * @source chen2024-sequoia, section 3.1, with chances that depend on the level
 */
RIDGE_NODISCARD ridge_status ridge_tree_find(ridge_ctx *cx, const ridge_tree_odds *odds,
                                             int64_t nodes, int64_t depth,
                                             ridge_tree *out);

/** Tokens of an iteration of any tree: 1 and the chance of each node's path. */
double ridge_tree_tokens(const ridge_tree *tree, const ridge_tree_odds *odds);

/** Acceptances of a chain that makes as many tokens at each level as the tree: what a
 * layout's draft says of it. @param out  [tree->depth] */
void ridge_tree_acceptance(const ridge_tree *tree, const ridge_tree_odds *odds,
                           double *out);

/* ---- rules ----------------------------------------------------------------------- */

/** Longest prefix of drafts that are the model's own most likely tokens.
 * @param drafted  [depth]. @param best  [depth] the model's choice at each position
 * @return accepted drafts; the model's token at that position comes with them */
int64_t ridge_greedy_accepted(const int *drafted, const int *best, int64_t depth);

/** What was drafted for one position, each drawn from the same q. */
typedef struct ridge_candidates {
    int n;
    const int *drafted; /* [n] in the order in which they are tried */
    const double *keep; /* [n] uniform in [0, 1) */
    double draw;        /* the same */
} ridge_candidates;

/**
 * The stochastic rule at one position: keep a drafted token x with the chance
 * min(1, p(x) / q(x)); where it is refused p becomes max(0, p - q), scaled to sum to 1,
 * and the next candidate is held against that; after the last one the token is drawn
 * from it. Whatever q is, the token is distributed as p.
 *
 * @param p, q  [tokens] chances of the model and of what drafted; each sums to 1
 * @param work  [tokens]
 * @param kept  which candidate was kept, -1: none
 * @return the token
 * @source leviathan2023, algorithm 1; chen2023-speculative, algorithm 2;
 *         miao2023-specinfer, algorithm 2
 */
int ridge_stochastic_choice(const double *p, const double *q, int tokens,
                            const ridge_candidates *candidates, double *work,
                            int *kept);

/** The chance that a draft is kept: sum of min(p, q), 1 - their total variation. */
double ridge_stochastic_acceptance(const double *p, const double *q, int tokens);

/** Chances that the first, the second, ... candidate is the one kept: the odds of a
 * tree's level. @param work  [tokens]. @param out  [ranks] */
void ridge_stochastic_ranks(const double *p, const double *q, int tokens, int ranks,
                            double *work, double *out);

/* ---- published acceptance -------------------------------------------------------- */

/** A published acceptance, of data/acceptance. Owned by the set. */
typedef struct ridge_acceptance {
    const char *name;      /* "eagle-llama-2-chat-70b" */
    const char *full_name; /* "EAGLE on LLaMA2-Chat 70B, MT-bench, greedy" */
    ridge_draft_kind kind;
    const char *target; /* as published */
    const char *draft;  /* the same of what drafts */
    const char *task;
    double temperature;
    int n_accept; /* positions that are known; the last holds beyond them */
    double accept[RIDGE_DRAFT_DEPTH_MAX];
    double next;     /* chance of each further candidate; 0: not known */
    double tokens;   /* mean of an iteration as published; 0: not stated */
    int64_t depth;   /* with which it was measured; 0: not stated */
    int64_t nodes;   /* of its tree; 0: a chain */
    bool is_default; /* of its kind */
    bool is_solved;  /* the acceptance was solved from tokens */
    const char *source, *date, *note;
} ridge_acceptance;

typedef struct ridge_acceptance_set ridge_acceptance_set;

/** @owner cx. @errors E_PARSE with file:line; E_NOMEM */
RIDGE_NODISCARD ridge_status
ridge_acceptance_set_open(ridge_ctx *cx, const ridge_acceptance_set **out);
size_t ridge_acceptance_count(const ridge_acceptance_set *set);
const ridge_acceptance *ridge_acceptance_at(const ridge_acceptance_set *set, size_t i);
/** By name. @errors E_NOTFOUND with the nearest */
RIDGE_NODISCARD ridge_status ridge_acceptance_find(ridge_ctx *cx,
                                                   const ridge_acceptance_set *set,
                                                   const char *name,
                                                   const ridge_acceptance **out);
/** What holds of a kind where nothing is told. @return NULL: of NONE */
const ridge_acceptance *ridge_acceptance_default(const ridge_acceptance_set *set,
                                                 ridge_draft_kind kind);

/* ---- as users write it ----------------------------------------------------------- */

/** A kind of drafting with all that is told about it. */
typedef struct ridge_speculation {
    ridge_draft draft;      /* depth 0: not told */
    double next;            /* of trees; 0: chains */
    const char *model_name; /* MODEL: as it was told */
    const char *source;     /* of the acceptance: "stated", or its name in the data */
} ridge_speculation;

/**
 * "eagle", "eagle,depth=4,accept=0.8", "model=llama-3.2-1b,depth=5",
 * "medusa,accept=medusa-vicuna-7b,nodes=63", "mtp,accept=0.9/0.7", "none".
 * An acceptance is a number, one for each position between '/', or a name of
 * data/acceptance; not told, it is the kind's default. "next" is the chance of each
 * further candidate of a tree.
 * @param library  to load the model that drafts
 * @owner the ctx
 * @errors E_ARG an unknown kind or key, with the nearest; a number out of its range;
 *         E_NOTFOUND a model or an acceptance
 */
RIDGE_NODISCARD ridge_status ridge_speculation_parse(ridge_ctx *cx, const char *text,
                                                     const ridge_library *library,
                                                     ridge_speculation *out);

/** Acceptances of each position beyond those that are known: the last one's.
 * @param n  known, >= 1. @param out  [RIDGE_DRAFT_DEPTH_MAX] */
void ridge_acceptance_extend(const double *known, int n, double *out);

/* ---- the study ------------------------------------------------------------------- */

enum {
    RIDGE_STUDY_BATCHES_MAX = 32,
    RIDGE_STUDY_DEPTHS_MAX = 16,
    RIDGE_STUDY_CONTEXTS_MAX = 8
};

/** What is asked: batches and depths of one layout. */
typedef struct ridge_speculation_query {
    ridge_serving_desk *desk;
    const ridge_serving_layout *layout; /* its draft is replaced */
    ridge_speculation speculation;
    double context_tokens; /* of each sequence */
    int n_batches;         /* decoding sequences of an attention rank, ascending */
    double batches[RIDGE_STUDY_BATCHES_MAX];
    int64_t deepest;    /* depths 1 to this, <= RIDGE_STUDY_DEPTHS_MAX */
    int64_t most_nodes; /* of trees; 0: chains alone */
    int n_contexts;     /* other contexts, of which the best depth is told */
    double contexts[RIDGE_STUDY_CONTEXTS_MAX];
    double cache_tokens; /* room of the cache: batches beyond it are left out there */
} ridge_speculation_query;

/** A batch at a depth, or with a tree. */
typedef struct ridge_speculation_point {
    int64_t depth, nodes;
    double tokens;      /* of a sequence and iteration, in the mean */
    double iteration_s; /* drafting and verifying */
    double draft_s;     /* of it */
    double tpot_s;      /* iteration_s / tokens */
    double speedup;     /* over the iteration without drafts */
} ridge_speculation_point;

/** The best depth of a batch at a context. */
typedef struct ridge_speculation_cell {
    bool fits;
    int64_t depth; /* 0: none is faster than without drafts */
    double speedup;
} ridge_speculation_cell;

/** One batch. */
typedef struct ridge_speculation_row {
    double batch;
    double plain_s;       /* the iteration without drafts: its time between tokens */
    ridge_bound bound_by; /* of the plain iteration */
    ridge_speculation_point chains[RIDGE_STUDY_DEPTHS_MAX]; /* of depth i + 1 */
    int best; /* index of the fastest chain; -1: none is faster than without */
    ridge_speculation_point tree;          /* the fastest tree; nodes 0: not asked */
    int64_t widths[RIDGE_DRAFT_DEPTH_MAX]; /* of its levels */
    ridge_speculation_cell contexts[RIDGE_STUDY_CONTEXTS_MAX];
} ridge_speculation_row;

typedef struct ridge_speculation_study {
    int64_t deepest;
    int n_rows;
    ridge_speculation_row rows[RIDGE_STUDY_BATCHES_MAX];
    double stops_at; /* least batch from which no depth is faster; INFINITY: always
                        pays in the range asked, 0: never */
    double floor_acceptance; /* one acceptance with which the best depth of the first
                                batch only breaks even */
} ridge_speculation_study;

/**
 * Price every batch and depth, and the best tree of each batch.
 *
 * Verifying is a decode iteration with 1 + nodes rows a sequence; drafting is what
 * ridge_serving_step_price says for its kind.
 * @errors E_ARG an illegal layout, batches that do not ascend; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_speculation_study_run(
    ridge_ctx *cx, const ridge_speculation_query *query, ridge_speculation_study *out);

#ifdef __cplusplus
}
#endif

#endif
