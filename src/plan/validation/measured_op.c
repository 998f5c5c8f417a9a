/* The kind of a measured operation, and what all kinds share. */
#include "measured_op.h"

#include <string.h>

/* ---- streams --------------------------------------------------------------------- */

/* Bytes over the time of a benchmark that only states its rate: it moved enough for
 * neither the caches nor the launch to matter. */
static const double LARGE_STREAM_BYTES = 4 * RIDGE_GIB;

static ridge_status read_stream(ridge_ctx *cx, const measured_record *r,
                                measured_op *out)
{
    const char *op = measured_record_text(r, "op");
    const bool is_from_host = strstr(op, "host") != NULL;
    double tensor_bytes;
    double rate;
    out->class = MEASURED_STREAM;
    out->kind = is_from_host ? "host copy" : "memory stream";
    out->stream_memory = is_from_host ? RIDGE_MEMORY_HOST : RIDGE_MEMORY_HBM;
    out->stream_bytes = LARGE_STREAM_BYTES;
    if (measured_record_number(r, "tensor_bytes", &tensor_bytes))
        out->stream_bytes = 2 * tensor_bytes; /* read and written */
    double bytes = out->stream_bytes;
    /* A chip of two cores, each measured by itself: half of the rate. */
    if (measured_record_number(r, "bandwidth_gb_per_s_per_core", &rate)) {
        out->measured_s = bytes / (2 * rate * 1e9);
    } else {
        RIDGE_TRY(measured_seconds(cx, r, 0, bytes, &out->measured_s));
    }
    out->what = op;
    return RIDGE_OK;
}

/* ---- kinds ----------------------------------------------------------------------- */

typedef ridge_status (*op_reader)(ridge_ctx *cx, const measured_record *r,
                                  measured_op *out);

/* Names of operations as files have them, and who reads them. A name ends at the first
 * that begins so. */
static const struct {
    const char *begin;
    op_reader read;
} readers[] = {
    {"gemm", measured_matmul_read},
    {"matmul", measured_matmul_read},
    {"grouped matmul", measured_experts_read},
    {"moe_ffn", measured_experts_read},
    {"attention", measured_attention_read},
    {"mla_", measured_attention_read},
    {"MLA prefill", measured_attention_read},
    {"MLA decode", measured_attention_read},
    {"copy", read_stream},
    {"stream", read_stream},
    {"host to device copy", read_stream},
    {"all_reduce", measured_collective_read},
    {"all_gather", measured_collective_read},
    {"reduce_scatter", measured_collective_read},
    {"all_to_all", measured_collective_read},
    {"alltoall", measured_collective_read},
    {"send_recv", measured_collective_read},
    {"broadcast", measured_collective_read},
    {"peer copy", measured_collective_read},
    {"expert dispatch", measured_exchange_read},
    {"expert combine", measured_exchange_read},
};

ridge_status measured_op_read(ridge_ctx *cx, const measured_record *r, measured_op *out)
{
    const char *op = measured_record_text(r, "op");
    *out = (measured_op){.kind = "not known", .what = ""};
    if (op == NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "op is not stated");
    for (size_t i = 0; i < RIDGE_COUNT_OF(readers); i++) {
        if (strncmp(op, readers[i].begin, strlen(readers[i].begin)) == 0)
            return readers[i].read(cx, r, out);
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no model of '%s'", op);
}
