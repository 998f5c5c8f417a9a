/*
 * The kernels that are compiled once for each instruction set: kernel_*.c with -march
 * of its own and RIDGE__ISA, a suffix that keeps their external names apart. Each has
 * the signature of its row in ridge__device_ops. A device takes the table of the best
 * set that its CPU has.
 *
 * In kernel_norm.c:
 *     ridge_status RIDGE__KERNEL(norm)(ridge__device *d, const ridge__norm *n)
 */
#ifndef RIDGE_EXECUTE_KERNEL_H
#define RIDGE_EXECUTE_KERNEL_H

#include "device_cpu.h"

#ifndef RIDGE__ISA
#    define RIDGE__ISA base
#endif

#define RIDGE__JOIN2(name, isa) ridge__kernel_##name##_##isa
#define RIDGE__JOIN(name, isa)  RIDGE__JOIN2(name, isa)
/** The external name of a kernel for the instruction set that is being compiled. */
#define RIDGE__KERNEL(name) RIDGE__JOIN(name, RIDGE__ISA)

/* What ridge__device_ops has a pointer to; name, type of the description. */
/* clang-format off */
#define RIDGE__KERNEL_LIST(X)                           \
    X(attention, ridge__attention)                      \
    X(attention_backward, ridge__attention)             \
    X(norm, ridge__norm)                                \
    X(norm_backward, ridge__norm)                       \
    X(elementwise, ridge__elementwise)                  \
    X(elementwise_backward, ridge__elementwise)         \
    X(rotary, ridge__rotary)                            \
    X(copy, ridge__copy)                                \
    X(sum, ridge__sum)                                  \
    X(gather, ridge__gather)                            \
    X(loss_partial, ridge__loss)                        \
    X(loss_finish, ridge__loss)                         \
    X(loss_backward, ridge__loss)                       \
    X(route, ridge__route)                              \
    X(route_backward, ridge__route)                     \
    X(expert_order, ridge__expert_order)                \
    X(dispatch, ridge__experts)                         \
    X(dispatch_backward, ridge__experts)                \
    X(combine, ridge__experts)                          \
    X(combine_backward, ridge__experts)                 \
    X(update, ridge__update)                            \
    X(block_maxima, ridge__blocks)                      \
    X(block_pack, ridge__blocks)                        \
    X(block_unpack, ridge__blocks)                      \
    X(sinks, ridge__sinks)                              \
    X(sinks_backward, ridge__sinks)                     \
    X(convolution, ridge__convolution)                  \
    X(convolution_backward, ridge__convolution)         \
    X(recurrence, ridge__recurrence)                    \
    X(recurrence_backward, ridge__recurrence)
/* clang-format on */

#define RIDGE__KERNEL_DECLARE(name, type)                                              \
    ridge_status RIDGE__KERNEL(name)(ridge__device * d, const type *what);
RIDGE__KERNEL_LIST(RIDGE__KERNEL_DECLARE)
#undef RIDGE__KERNEL_DECLARE

ridge_status RIDGE__KERNEL(attention_merge)(ridge__device *d, int64_t rows, int64_t hv,
                                            ridge__array o, float *lse,
                                            ridge__array other, const float *other_lse);
ridge_status RIDGE__KERNEL(loss_rescale)(ridge__device *d, const ridge__loss *l,
                                         const float *old_top);
ridge_status RIDGE__KERNEL(sum_of_squares)(ridge__device *d, ridge__array x, int64_t n,
                                           double *out);
ridge_status RIDGE__KERNEL(multiply)(ridge__device *d, ridge__array x, int64_t n,
                                     float by);

/** The table of this instruction set, kernel_table.c. */
extern const ridge__kernel_table RIDGE__KERNEL(table);

#endif
