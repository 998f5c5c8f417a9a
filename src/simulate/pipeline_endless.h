/* Steps that follow each other without a barrier. */
#ifndef RIDGE_SIMULATE_PIPELINE_ENDLESS_H
#define RIDGE_SIMULATE_PIPELINE_ENDLESS_H

/** Ranks that go on to their next step by themselves. */
typedef struct ridge__endless {
    int ranks;
    const double *close_s;       /* [p] behind a rank's passes, before its next step */
    double *free_s;              /* [p] when a rank is free: in and out of a step */
    double *before_s;            /* [2 p] scratch */
    void (*step)(void *payload); /* play one, from free_s to free_s */
    void *payload;
} ridge__endless;

/**
 * Seconds from one step to the next. All ranks keep the pace of the slowest circle of
 * waits in the end; at first some gain on others, who lag ever less.
 */
double ridge__endless_s(const ridge__endless *run);

#endif
