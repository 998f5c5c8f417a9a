/* What others call the weights of a program, and how they lay them out. */
#ifndef RIDGE_WEIGHT_NAMES_H
#define RIDGE_WEIGHT_NAMES_H

#include "ridge/base.h"

/** How a weight lies in a checkpoint, against the dims of the program's tensor. */
typedef enum ridge__weight_order {
    RIDGE__WEIGHT_SAME,   /* the same dims, in the same order */
    RIDGE__WEIGHT_LINEAR, /* [out, in] where the program has [in, out] */
    RIDGE__WEIGHT_MATRIX, /* [in, out] as the program; others may share its columns */
    RIDGE__WEIGHT_EXPERTS /* LINEAR, a tensor for each index of the first dim */
} ridge__weight_order;

enum { RIDGE__WEIGHT_NAME_MAX = 8, RIDGE__PACKED_NAME_MAX = 3 };

/** A part of the rows (MATRIX: columns) of a tensor that holds several weights. */
typedef struct ridge__fused_name {
    const char *pattern; /* NULL: there is none */
    int behind;          /* weights of this one's size that stand behind it */
    bool is_first;       /* it stands first, whatever is behind */
} ridge__fused_name;

/** Weights whose sizes differ one behind another in the rows of a tensor. */
typedef enum ridge__packing {
    RIDGE__PACK_DELTA_HEADS, /* key head by key head: q, k, v, z of its value heads */
    RIDGE__PACK_DELTA_STEPS, /* key head by key head: beta, decay */
    RIDGE__PACK_DELTA_TAPS,  /* q, k, v */
    RIDGE__PACK_STATE_SPACE, /* z, x, B, C, dt */
    RIDGE__PACK_STATE_TAPS,  /* x, B, C */
    RIDGE__PACK_CONVOLUTION, /* B, C, x */
    RIDGE__PACK_QUERY_GATE   /* head by head: query, gate */
} ridge__packing;

typedef struct ridge__packed_name {
    const char *pattern; /* NULL: there is none */
    ridge__packing packing;
    int member; /* which of them */
} ridge__packed_name;

typedef struct ridge__weight_rule {
    const char *base;
    ridge__weight_order order;
    int in_dims; /* LINEAR, MATRIX: how many of the program's first dims are summed over
                  */
    bool is_rotary; /* its last dim (of a head) is turned by positions */
    /* "{l}" is the layer, "{e}" the expert; without the prefix "model.". The first one
     * that is there counts. */
    const char *patterns[RIDGE__WEIGHT_NAME_MAX];
    ridge__fused_name fused;
    /* Where the layer's mixer is of that kind, before all patterns. */
    ridge__packed_name packed[RIDGE__PACKED_NAME_MAX];
} ridge__weight_rule;

/** Checkpoints that have names of one kind. */
typedef struct ridge__weight_family {
    const char *embedding; /* the name that tells them: "embed_tokens.weight" */
    const char *layers;    /* before a layer's number: "layers." */
    size_t n;
    const ridge__weight_rule *rules;
} ridge__weight_family;

/** The family whose token table ends in that name; NULL: it is no token table. */
const ridge__weight_family *ridge__weight_family_of(const char *name);
/** That of LLaMA. */
const ridge__weight_family *ridge__weight_family_usual(void);

/** NULL: Ridge knows no name for it. */
const ridge__weight_rule *ridge__weight_rule_find(const ridge__weight_family *family,
                                                  const char *base);

#endif
