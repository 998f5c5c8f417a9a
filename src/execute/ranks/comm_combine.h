/*
 * Sums and copies that collectives are made of, at the speed of memory. comm_combine.c
 * is compiled once for each instruction set, with a RIDGE__ISA of its own; the best one
 * of this CPU is chosen at run time. Equal bits from all.
 */
#ifndef RIDGE_EXECUTE_COMM_COMBINE_H
#define RIDGE_EXECUTE_COMM_COMBINE_H

#include "ridge/execute_comm.h"

/** What several ranks hold, summed in their order (or the largest), written to several
 * places. BF16 is summed in fp32 and rounded once, to nearest even. A place may be one
 * of the sources. A NaN stays one. */
typedef struct ridge__combine {
    ridge_element element;
    ridge_reduce reduce;
    int n_sources, n_places;
    const void *const *sources; /* [n_sources] of n elements; n_sources >= 1 */
    void *const *places;        /* [n_places] */
    int64_t from, to, n;        /* elements from .. from + n of each source, written to
                                   to .. to + n of each place */
    bool is_streamed;           /* written past the caches */
} ridge__combine;

typedef void ridge__combine_fn(const ridge__combine *c);

/** The one for this CPU. Static. */
ridge__combine_fn *ridge__combine_choose(void);

/**
 * Copy, past the caches where it is so large that they would be emptied by it.
 * @param is_streamed  without: as memcpy
 */
void ridge__stream_copy(void *dst, const void *src, size_t bytes, bool is_streamed);
/** What this thread has written is seen before what it writes next. */
void ridge__stream_end(void);

/** Rows of a strided copy: row i of @p rows is row_bytes at dst + i dst_bytes. */
typedef struct ridge__rows {
    int64_t rows;
    size_t row_bytes, dst_bytes, src_bytes;
    bool is_streamed;
} ridge__rows;

void ridge__rows_copy(void *dst, const void *src, const ridge__rows *r);
/** Zeros to the same places. */
void ridge__rows_zero(void *dst, const ridge__rows *r);

#endif
