/* A step as the program that runs, one operation after the other. */
#ifndef RIDGE_PLAN_STEP_PROGRAM_H
#define RIDGE_PLAN_STEP_PROGRAM_H

#include "train_price.h"

/** Times of a layer, of the head, or of the embedding. */
typedef struct step_times {
    ridge_step_parts pass; /* of a microbatch: forward, backward, what is done again */
    ridge_step_parts forward;         /* of these, the forward pass */
    ridge_step_parts backward_weight; /* and what makes gradients of weights alone */
    ridge_step_parts once; /* of a step: gradients reduced, weights updated */
    double bound_pass_s, bound_once_s;
} step_times;

/** Those of one layout: kinds of layers, then head and embedding. */
typedef struct step_program step_program;

/** What layouts were read already, by a case. */
typedef struct step_memo {
    step_program *first; /* NULL: none */
    ridge_status status; /* of the last that could not be read */
} step_memo;

/**
 * Step time and its parts on chips whose software runs one operation after the other:
 * sums over the operations of the program that runs, cut over the whole mesh. Nothing
 * hides; a pipeline's bubble is as elsewhere (train_price.c).
 */
void step_program_price(const train_case *tc, const train_terms *terms,
                        const ridge_layout *layout, ridge_train_price *price);

/** A stage and what comes once a step, as train_stage_work and train_step_end have
 * them. @return false: the degrees make no mesh, or the memo's status says why */
bool step_program_work(const train_case *tc, const ridge_layout *layout,
                       const train_stage *stage, ridge_stage_work *work,
                       ridge_step_end *end);

#endif
