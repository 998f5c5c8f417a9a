/* Names to numbers, for names of a text that is kept. Layer-internal. */
#ifndef RIDGE_HLO_NAMES_H
#define RIDGE_HLO_NAMES_H

#include "ridge/base.h"

/** Names within scopes: those of one computation are not another's. */
typedef struct hlo_names {
    size_t room; /* a power of two; 0: nothing yet */
    size_t n;
    struct hlo_name *slots;
} hlo_names;

/** @return -1: not there */
int hlo_names_find(const hlo_names *names, int scope, ridge_str name);
/** Of equal names the last counts. @return false: out of memory */
bool hlo_names_put(ridge_arena *arena, hlo_names *names, int scope, ridge_str name,
                   int value);

#endif
