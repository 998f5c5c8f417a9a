/* What a software stack keeps in memory beside what well-tuned software does. */
#ifndef RIDGE_PLAN_STACK_MEMORY_H
#define RIDGE_PLAN_STACK_MEMORY_H

#include "train_case.h"

/** Bytes a token that a layer of a kind keeps for its backward pass. */
double stack_kept_bytes(const train_case *tc, int kind, ridge_remat remat, int64_t tp,
                        bool has_sp);

/** Bytes a logit at the fullest moment of the loss. */
double stack_logit_bytes(const train_case *tc);

/** Bytes of gradients a parameter beside those of the precision policy. */
double stack_gradient_bytes(const train_case *tc);

/** Whether stages of a pipeline keep their weights gathered through the step. */
bool stack_gathers_stage(const train_case *tc);

#endif
