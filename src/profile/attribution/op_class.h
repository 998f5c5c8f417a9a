/*
 * What an operation does, by what the trace tells of it. Layer-internal.
 */
#ifndef RIDGE_PROFILE_OP_CLASS_H
#define RIDGE_PROFILE_OP_CLASS_H

#include "ridge/profile.h"

/** What is told of an operation; "" for what is not. */
typedef struct op_told {
    const char *name;     /* kernel or HLO operation */
    const char *category; /* HLO category, or Ridge's kind */
    const char *text;  /* HLO's long name: "%fusion.3 = ... fusion(...), calls=..." */
    const char *scope; /* framework's operation: "jit(f)/layers_3/attn/dot_general" */
    const char *call;  /* launched it: "aten::addmm" */
    const char *collective; /* named by the call: "allreduce" */
    bool is_copy;           /* told by the trace */
    bool is_within_attention, is_within_optimizer;
} op_told;

ridge_profile_class op_class_of(const op_told *told);
/** "allgather", "all-gather", "AllGather", "all_gather_into_tensor", ... @return
 *  OTHER when it is the name of no collective */
ridge_profile_class op_class_of_collective(const char *text);
/** Whether @p word is part of @p text, whatever the case; word is in lower case. */
bool op_class_has(const char *text, const char *word);

#endif
