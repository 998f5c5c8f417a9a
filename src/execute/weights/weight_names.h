/* What others call the weights of a program, and how they lay them out. */
#ifndef RIDGE_WEIGHT_NAMES_H
#define RIDGE_WEIGHT_NAMES_H

#include "ridge/base.h"

/** How a weight lies in a checkpoint, against the dims of the program's tensor. */
typedef enum ridge__weight_order {
    RIDGE__WEIGHT_SAME,   /* the same dims, in the same order */
    RIDGE__WEIGHT_LINEAR, /* [out, in] where the program has [in, out] */
    RIDGE__WEIGHT_EXPERTS /* LINEAR, a tensor for each index of the first dim */
} ridge__weight_order;

enum { RIDGE__WEIGHT_NAME_MAX = 4 };

/** A part of the rows of a tensor that holds several weights. */
typedef struct ridge__fused_name {
    const char *pattern; /* NULL: there is none */
    int behind;          /* weights of this one's size that stand behind it */
    bool is_first;       /* it stands first, whatever is behind */
} ridge__fused_name;

typedef struct ridge__weight_rule {
    const char *base;
    ridge__weight_order order;
    int in_dims;    /* LINEAR: how many of the program's first dims are summed over */
    bool is_rotary; /* its last dim (of a head) is turned by positions */
    /* "{l}" is the layer, "{e}" the expert; without the prefix "model.". The first one
     * that is there counts. */
    const char *patterns[RIDGE__WEIGHT_NAME_MAX];
    ridge__fused_name fused;
} ridge__weight_rule;

/** NULL: Ridge knows no name for it. */
const ridge__weight_rule *ridge__weight_rule_find(const char *base);

#endif
