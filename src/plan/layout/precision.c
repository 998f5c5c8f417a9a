/* Precision policies: what is kept for each parameter, from the one list. */
#include "ridge/plan.h"

#include <string.h>

/* clang-format off */
static const ridge_policy policies[] = {
#define POLICY_ROW(name, text, what, compute, weight, gradient, master, moment, reduce) \
    {text,                                                                             \
     what,                                                                             \
     RIDGE_DTYPE_##compute,                                                            \
     weight,                                                                           \
     gradient,                                                                         \
     master,                                                                           \
     moment,                                                                           \
     reduce,                                                                           \
     RIDGE_PRECISION_##name == RIDGE_PRECISION_FP8_CURRENT  ? RIDGE_SCALES_CURRENT      \
     : RIDGE_PRECISION_##name == RIDGE_PRECISION_FP8_ROWS   ? RIDGE_SCALES_ROWS         \
     : RIDGE_PRECISION_##name == RIDGE_PRECISION_MXFP8      ? RIDGE_SCALES_32           \
     : RIDGE_PRECISION_##name == RIDGE_PRECISION_FP8_BLOCKS ? RIDGE_SCALES_128          \
                                                            : RIDGE_SCALES_DELAYED,     \
     false},
    RIDGE_PRECISION_LIST(POLICY_ROW)
#undef POLICY_ROW
};
/* clang-format on */

const ridge_policy *ridge_precision_policy(ridge_precision precision)
{
    return &policies[precision];
}

double ridge_policy_state_bytes(const ridge_policy *policy)
{
    return policy->weight_bytes + policy->master_bytes + policy->moment_bytes;
}

double ridge_policy_mfu_peak(const ridge_policy *policy, const ridge_chip *chip,
                             ridge_dtype *used)
{
    const ridge_dtype dtype =
        policy->compute == RIDGE_DTYPE_FP32 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
    return ridge_chip_peak(chip, dtype, used);
}

ridge_status ridge_precision_parse(ridge_ctx *cx, const char *text,
                                   ridge_precision *out)
{
    const char *names[RIDGE_PRECISION_COUNT];
    for (int i = 0; i < RIDGE_PRECISION_COUNT; i++) {
        names[i] = policies[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_precision)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "precision", text, names,
                           RIDGE_PRECISION_COUNT);
}
