/* Gaps between arrivals and lengths, drawn. */
#ifndef RIDGE_REQUEST_DRAW_H
#define RIDGE_REQUEST_DRAW_H

#include "ridge/simulate_chance.h"
#include "ridge/simulate_requests.h"

/** A process of arrivals that does not wait for answers. */
typedef struct arrival_process {
    ridge_arrival_kind kind;
    double gap_s; /* mean; while on, of bursts */
    double shape;
    double on_s, off_s;
    double on_left_s; /* of the burst */
    ridge_chance chance;
} arrival_process;

arrival_process ridge__arrivals_of(const ridge_request_draws *draws);
/** Seconds until the next one. */
double ridge__arrivals_next(arrival_process *process);

/** A length in tokens, >= 1. */
int64_t ridge__length_draw(const ridge_length *length, ridge_chance *chance);

/** A gamma variable of mean 1. @param shape  > 0. @source marsaglia2000 */
double ridge__gamma_draw(double shape, ridge_chance *chance);

#endif
