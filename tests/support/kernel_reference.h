/*
 * What kernels compute, in double precision and as plainly as can be: sums over all
 * entries with their conditions spelt out. Forward, and where it is written down
 * easily, backward.
 */
#ifndef RIDGE_TEST_KERNEL_REFERENCE_H
#define RIDGE_TEST_KERNEL_REFERENCE_H

#include "device.h"

/** Arrays of ridge__attention as doubles; backward ones may be NULL forward. */
typedef struct reference_attention {
    const double *q, *k, *v; /* k and v with stride_s */
    double *o, *lse;
    const double *d_o;
    double *d_q, *d_k, *d_v; /* added to */
} reference_attention;

bool reference_meets(const ridge__attention *a, int64_t i, int64_t j);
void reference_attend(const ridge__attention *a, const reference_attention *x);
/** By the forward's o and lse. */
void reference_attend_back(const ridge__attention *a, const reference_attention *x);

/** f(a, b); functions of one input leave b alone. */
double reference_function(ridge_function f, double a, double b, double scale);

/** The mean that a norm of this kind subtracts: 0 for rms. */
double reference_mean(ridge_norm_kind kind, int64_t d, const double *x);

/** y = z / rms(z) w + b of one row, z = x - mean; w, b may be NULL. */
void reference_norm(ridge_norm_kind kind, int64_t d, double epsilon, const double *x,
                    const double *w, const double *b, double *y);

/** log(sum of exp) of n logits. */
double reference_log_sum(const double *logits, int64_t n);

/** Gates of one row. */
void reference_route(int64_t experts, int64_t k, const double *logits, double *gates);

#endif
