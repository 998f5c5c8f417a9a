/* The matrix work of the Muon optimizer. */
#ifndef RIDGE_PLAN_MUON_STEP_H
#define RIDGE_PLAN_MUON_STEP_H

#include "train_case.h"

/**
 * Five Newton-Schulz steps on the momentum of every matrix of a stage, in bf16. Ranks
 * that share the state share the matrices. Left out: gathering a matrix that tp cuts,
 * below a hundredth of a step.
 * @source jordan2024-muon: each step takes X X^T, its square, and their product with X:
 *         4 m^2 n + 2 m^3 FLOPs for m <= n; liu2025-moonlight (shared among ranks)
 */
ridge_time muon_step_time(const train_case *tc, const train_stage *stage,
                          const ridge_layout *layout);

#endif
