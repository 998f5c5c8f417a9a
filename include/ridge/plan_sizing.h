/*
 * From a budget to the size of a model and its tokens: FLOPs, or dollars, chip-hours or
 * days on a slice, at the speed that the planner finds for a model of about that size.
 */
#ifndef RIDGE_PLAN_SIZING_H
#define RIDGE_PLAN_SIZING_H

#include "ridge/model_scaling.h"
#include "ridge/plan_money.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is given; the rest is asked. */
typedef enum ridge_sizing_given {
    RIDGE_GIVEN_FLOPS,
    RIDGE_GIVEN_USD,
    RIDGE_GIVEN_CHIP_HOURS,
    RIDGE_GIVEN_DAYS,
    RIDGE_GIVEN_PARAMS,
    RIDGE_GIVEN_TOKENS,
    RIDGE_GIVEN_BOTH, /* parameters and tokens: only the loss is asked */
    RIDGE_GIVEN_LOSS
} ridge_sizing_given;

/** Borrowed pointers must outlive the result. */
typedef struct ridge_sizing_request {
    const ridge_scaling_law *law;
    ridge_sizing_given given;
    double amount;            /* of what is given */
    double second;            /* tokens, with both */
    double tokens_per_param;  /* 0: the best by the law */
    double served_tokens;     /* of a lifetime of inference; 0: left out */
    const ridge_slice *slice; /* NULL: no time, no money */
    double mfu;               /* 0: the planner's */
    const ridge_library *library;
    double batch_tokens, seq_tokens;  /* of the planner's step */
    const ridge_money_request *money; /* NULL without a slice */
    ridge_progress *progress;         /* or NULL */
} ridge_sizing_request;

/** How fast models of about a size train on the slice. */
typedef struct ridge_size_speed {
    const char *model_name; /* the nearest dense model of the catalogue; NULL: given */
    double mfu;
    double goodput;     /* 1: not known, or left out */
    double flops_per_s; /* of all chips, useful ones */
} ridge_size_speed;

/** A size with what it takes on the slice; times and dollars 0 without one. */
typedef struct ridge_sized {
    ridge_sizing size;
    double days, chip_hours, usd;
    double waste; /* FLOPs over the fewest that reach its loss, less 1 */
} ridge_sized;

enum { RIDGE_RATIO_COUNT = 8, RIDGE_LAW_MAX = 16 };

typedef struct ridge_sizing_study {
    ridge_sized best; /* the answer */
    bool has_served;
    ridge_sized served; /* the same loss, fewest FLOPs with inference */
    double best_total_flops, served_total_flops; /* of training and inference */
    int n_ratios;
    ridge_sized
        ratios[RIDGE_RATIO_COUNT]; /* the same FLOPs, other tokens a parameter */
    int n_laws;
    ridge_scaling_law laws[RIDGE_LAW_MAX]; /* all that are built in */
    ridge_sizing by_law[RIDGE_LAW_MAX];    /* the best of the same FLOPs */
    bool has_speed;
    ridge_size_speed speed;
} ridge_sizing_study;

/**
 * @param out  written on success; the law's texts are borrowed from cx
 * @errors E_ARG: dollars without a price, money or days without a slice, a loss out of
 *         reach, no model of the catalogue fits the slice; E_NOMEM; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_sizing_study_fill(
    ridge_ctx *cx, const ridge_sizing_request *request, ridge_sizing_study *out);

/** The speed of the nearest dense model of the catalogue in its best layout. */
RIDGE_NODISCARD ridge_status ridge_size_speed_find(ridge_ctx *cx,
                                                   const ridge_sizing_request *request,
                                                   double params,
                                                   ridge_size_speed *out);

#ifdef __cplusplus
}
#endif

#endif
