/*
 * What a rank holds, compared: numbers in and out of a device's arrays, where a local
 * element lies in the whole array, and what all ranks agree on.
 */
#ifndef RIDGE_EXECUTE_HELD_CHECK_H
#define RIDGE_EXECUTE_HELD_CHECK_H

#include "machine.h"

/** A rank with its machine. */
typedef struct ridge__checker {
    ridge_ctx *cx;
    ridge_comm *world; /* on which the machine's mesh lies */
    ridge__machine *m;
} ridge__checker;

/** What a comparison showed on this rank. */
typedef struct ridge__held_check {
    double error;   /* the largest; infinite where a number is none */
    bool has_dirt;  /* padding that is not zero */
    bool is_unlike; /* the next replica's bits differ: over a ring, so that of ranks
                       that differ some rank sees it */
} ridge__held_check;

/** The number for a local element, padding aside. */
typedef double ridge__fill_fn(void *payload, int64_t place);

size_t ridge__value_bytes(const ridge__value *v);
/** Place in the whole array of local element i; -1: padding. */
int64_t ridge__whole_place(const ridge__machine *m, int tensor, int64_t i);
/** Give a value its numbers, padding zero. @param is_ids  int32 instead of the format
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__held_fill(const ridge__checker *k, int tensor,
                                              const ridge__value *v, bool is_ids,
                                              ridge__fill_fn *fn, void *payload);
/** All local elements as doubles, in the scratch arena. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__held_read(const ridge__checker *k,
                                              const ridge__value *v, double **out);
/** Compare what the ranks hold of a tensor, partial sums added up, with the whole
 * array. All ranks call it. @errors E_NOMEM; E_IO */
RIDGE_NODISCARD ridge_status ridge__held_compare(const ridge__checker *k, int tensor,
                                                 const ridge__value *v,
                                                 const double *whole,
                                                 ridge__held_check *out);
/** Each number becomes the largest of all ranks'. */
RIDGE_NODISCARD ridge_status ridge__ranks_agree(const ridge__checker *k, float *numbers,
                                                int n);

#endif
