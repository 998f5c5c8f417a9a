/* What batches of a pipeline wait for longer ones. Layer-internal. */
#ifndef RIDGE_PLAN_PIPELINE_WAIT_H
#define RIDGE_PLAN_PIPELINE_WAIT_H

/** Iterations of a pipeline: each begins a Poisson number of prompts. */
typedef struct pipeline_jobs {
    double stages;  /* p >= 1 */
    double mean;    /* prompts, of an iteration that could begin some; >= 0 */
    double most;    /* that one has room for; >= 1 */
    double first_s; /* by which the first makes it longer */
    double more_s;  /* each beside it */
    double spare_s; /* of that, what one without takes anyhow: prompts alone beside
                       decoding; 0: they lengthen an iteration that decodes */
    double others;  /* iterations that could begin none, for each that could; >= 0 */
} pipeline_jobs;

/**
 * By what the iterations of a pipeline are longer than one without prompts, in the mean
 * and with what they wait for each other: at least the mean max(0, N more_s - spare_s),
 * at most the largest of p. The mean itself for one stage.
 * @return seconds. Cannot fail
 * @note  within 6 % of the recursion that it stands for:
 * tests/unit/test_pipeline_wait.c
 */
double pipeline_wait_longer_s(const pipeline_jobs *jobs);

/**
 * Share of long iterations that a pipeline of short and long ones feels like.
 * @param share   of the iterations that are long
 * @param rounds  for which a batch that is long stays so; >= 1
 * @note  for one round that of a path which does not look ahead, up to 5 % below the
 *        recursion's time; for many the share of the rounds in which any is long
 */
double pipeline_wait_share(double stages, double share, double rounds);

#endif
