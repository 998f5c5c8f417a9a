/* Knobs whose other values a training search is asked about. Layer-internal. */
#ifndef RIDGE_PLAN_RELAXED_KNOBS_H
#define RIDGE_PLAN_RELAXED_KNOBS_H

#include "ridge/plan_reasons.h"

/** What was asked, and its answer. */
typedef struct relaxed_case {
    const ridge_train_request *request;
    const ridge_train_price *best; /* NULL: nothing fits */
} relaxed_case;

/** The same question with one thing otherwise. */
typedef struct relaxed_variant {
    ridge_train_request request;
    ridge_layout same; /* the best layout as the variant has it */
    bool has_same;     /* it is in the space of the variant */
    ridge_relaxation line;
    ridge_status status;
} relaxed_variant;

typedef struct relaxed_knob {
    const char *name;
    const char *what;
    bool (*is_wanted)(const relaxed_case *c); /* it is otherwise, and may help */
    void (*take)(relaxed_variant *v);
} relaxed_knob;

/** Ends with a NULL name. */
extern const relaxed_knob relaxed_knobs[];

#endif
