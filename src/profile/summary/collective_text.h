/*
 * A collective as its HLO text tells it. Layer-internal.
 */
#ifndef RIDGE_PROFILE_COLLECTIVE_TEXT_H
#define RIDGE_PROFILE_COLLECTIVE_TEXT_H

#include "ridge/base.h"

typedef struct collective_told {
    int64_t ranks; /* in a group; 0: not told */
    double bytes;  /* of its largest array; 0: not told */
} collective_told;

/**
 *     %ag = bf16[64,512]{1,0} all-gather(bf16[8,512] %p), replica_groups={{0,1},{2,3}}
 *
 * or replica_groups=[4,2]<=[8]: four groups of two.
 */
collective_told collective_text_read(const char *text);

#endif
