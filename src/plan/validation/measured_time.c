/* The time that a row of measured operations states, as it states it. */
#include "measured_op.h"

ridge_status measured_want(ridge_ctx *cx, const measured_record *r, const char *name,
                           double *out)
{
    if (measured_record_number(r, name, out))
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG, "%s is not stated", name);
}

ridge_status measured_seconds(ridge_ctx *cx, const measured_record *r, double flops,
                              double bytes, double *out)
{
    double v;
    if (measured_record_number(r, "latency_us", &v)) {
        *out = v * 1e-6;
    } else if (flops > 0 && measured_record_number(r, "tflops_per_s", &v)) {
        *out = flops / (v * 1e12);
    } else if (bytes > 0 && measured_record_number(r, "bandwidth_gb_per_s", &v)) {
        *out = bytes / (v * 1e9);
    } else {
        return ridge_fail(cx, RIDGE_E_ARG, "no time or rate was measured");
    }
    return RIDGE_OK;
}
