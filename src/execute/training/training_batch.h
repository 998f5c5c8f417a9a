/* What the tokens of a step are, and which of them a rank's stages get. */
#ifndef RIDGE_TRAINING_BATCH_H
#define RIDGE_TRAINING_BATCH_H

#include "runner.h"

/** Where one rank of a training run stands. */
typedef struct ridge__rank_state {
    const ridge_train_run *run;
    ridge__runner *r;
    int64_t step; /* from 0 */
    bool is_evaluation;
    int64_t eval_first; /* window of the evaluation */
    double loss_sum;    /* of this rank, divided by replicas */
    double tokens;      /* with a label, of the global batch */
    double *step_s;     /* [steps] */
    int64_t n_steps;
    double peak_flops_per_s; /* of all ranks */
} ridge__rank_state;

/** The rank's part of the sequences of a microbatch: tokens and labels.
 * @param payload  a ridge__rank_state */
RIDGE_NODISCARD ridge_status ridge__batch_feed(void *payload, ridge__runner *r,
                                               ridge__chunk *c, int microbatch,
                                               ridge__flight *flight);
/** Where documents begin in the sequences of a microbatch, as ridge__documents_fn. */
RIDGE_NODISCARD ridge_status ridge__batch_documents(void *payload, int microbatch,
                                                    ridge__span sequences,
                                                    ridge__span tokens, int32_t *out);

#endif
