/*
 * Which slice to take: the best layout of each of several slices, GPUs and TPUs side by
 * side, compared by time, money, chips, energy or memory under a deadline.
 */
#ifndef RIDGE_PLAN_OFFER_H
#define RIDGE_PLAN_OFFER_H

#include "ridge/plan_money.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is wanted. name, text, what */
/* clang-format off */
#define RIDGE_OFFER_GOAL_LIST(X)                                                          \
    X(COST, "cost", "cheapest")                                                            \
    X(TIME, "time", "fastest")                                                             \
    X(CHIPS, "chips", "fewest chips")                                                      \
    X(ENERGY, "energy", "least energy")                                                    \
    X(MEMORY, "memory", "most memory left free")
/* clang-format on */

typedef enum ridge_offer_goal {
#define RIDGE_OFFER_GOAL_ENUM(name, text, what) RIDGE_OFFER_GOAL_##name,
    RIDGE_OFFER_GOAL_LIST(RIDGE_OFFER_GOAL_ENUM)
#undef RIDGE_OFFER_GOAL_ENUM
} ridge_offer_goal;

#define RIDGE_OFFER_GOAL_ONE(name, text, what) +1
enum { RIDGE_OFFER_GOAL_COUNT = 0 RIDGE_OFFER_GOAL_LIST(RIDGE_OFFER_GOAL_ONE) };
#undef RIDGE_OFFER_GOAL_ONE

/** "cost" */
const char *ridge_offer_goal_text(ridge_offer_goal goal);
/** "cheapest" */
const char *ridge_offer_goal_what(ridge_offer_goal goal);
/** @errors E_ARG with the names */
RIDGE_NODISCARD ridge_status ridge_offer_goal_parse(ridge_ctx *cx, const char *text,
                                                    ridge_offer_goal *out);

/** Slices of one kind: a slice, or any number of its chips. */
typedef struct ridge_offer_kind {
    const ridge_slice *slice; /* is_open: one chip of the kind */
    bool is_open;
    const ridge_stack *stack;  /* usual on its chips; NULL: the request's */
    ridge_money_request money; /* prices and failures are of the chip */
} ridge_offer_kind;

enum { RIDGE_OFFER_KIND_MAX = 16, RIDGE_OFFER_MAX = 1024 };

/** Borrowed pointers must outlive the result. */
typedef struct ridge_offer_request {
    const ridge_train_request *request; /* slice, price, top, front: not read */
    int n_kinds;                        /* 1 to RIDGE_OFFER_KIND_MAX */
    const ridge_offer_kind *kinds;
    ridge_offer_goal goal;
    double deadline_s;  /* of the whole run, failures among it; 0: none */
    int64_t chips_most; /* of an open kind */
    double slack;       /* by which a step may be longer than the slice's fastest, for
                         * less memory; RIDGE_OFFER_GOAL_MEMORY */
} ridge_offer_request;

typedef enum ridge_offer_fit {
    RIDGE_OFFER_OK,
    RIDGE_OFFER_UNKNOWN, /* it does, but its number of the goal is not known */
    RIDGE_OFFER_LATE,    /* it misses the deadline */
    RIDGE_OFFER_STUCK,   /* it fails too often to get on */
    RIDGE_OFFER_NONE,    /* no layout fits */
    RIDGE_OFFER_REFUSED  /* knobs contradict the slice; its why_not says how */
} ridge_offer_fit;

enum { RIDGE_OFFER_FIT_COUNT = RIDGE_OFFER_REFUSED + 1 };

/** "misses the deadline" */
const char *ridge_offer_fit_text(ridge_offer_fit fit);

/** One slice and its best layout. */
typedef struct ridge_offer {
    int kind;
    ridge_offer_fit fit;
    const char *why_not; /* RIDGE_OFFER_REFUSED; else NULL */
    ridge_train_request request;
    /* RIDGE_OFFER_OK to RIDGE_OFFER_STUCK: */
    ridge_train_price best;
    double fastest_step_s; /* of the slice: best's, unless memory is wanted */
    double fastest_peak_bytes;
    ridge_money money;
    double score; /* of the goal, less is better; INFINITY: not known */
} ridge_offer;

/** The number of a goal: days (seconds a useful step without a total of tokens),
 * dollars (or dollars a million tokens), chips with spares, kWh (or joules a token),
 * share of memory in use. INFINITY: not known. */
double ridge_offer_score(const ridge_offer *offer, ridge_offer_goal goal);

typedef struct ridge_offer_study {
    int n; /* those that do first, best first; then the others by kind and chips */
    int n_ranked; /* RIDGE_OFFER_OK; the first of them is chosen */
    ridge_offer *offers;
    int best_of[RIDGE_OFFER_GOAL_COUNT]; /* index of the best by each goal; -1: none */
    int64_t covered;                     /* layouts, over all slices */
    double seconds;
} ridge_offer_study;

/**
 * The best layout on each slice, ranked.
 *
 * An open kind has as many chips as one, two, four, ... and, beyond a node or a whole
 * torus, one, two, four of those, up to chips_most, where such a slice exists. Between
 * the largest of those that does not do and the first that does, up to seven legal
 * sizes are tried, and again between those: the fewest chips that do are then known to
 * a 64th part.
 * @param catalog  for the slices of open kinds
 * @owner the ctx
 * @errors E_ARG: a deadline without a total of tokens; E_NOMEM; E_CANCELLED; what holds
 * for one slice alone is told by its offer
 */
RIDGE_NODISCARD ridge_status ridge_offer_search(ridge_ctx *cx,
                                                const ridge_catalog *catalog,
                                                const ridge_offer_request *request,
                                                ridge_offer_study *out);

#ifdef __cplusplus
}
#endif

#endif
