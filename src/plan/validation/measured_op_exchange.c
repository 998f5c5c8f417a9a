/*
 * Measured exchanges of experts, as libraries of their own run them: rows on their way
 * to the ranks of their experts, and back. As an all-to-all of what all ranks send,
 * their own rows among it.
 */
#include "measured_op.h"

#include <math.h>
#include <string.h>

/* Rows that DeepEP's kernels for few tokens send go to each expert by themselves;
 * others go once to each rank that holds some. @source deepep-2025;
 * tensorrt-llm-kernels-2025
 */
static bool sends_each_copy(const char *library)
{
    return library != NULL && strstr(library, "low latency") != NULL;
}

/* Of n ranks those that hold one of k experts, when these are drawn at random. */
static double ranks_hit(double n, double k)
{
    return n * (1 - pow(1 - 1 / n, k));
}

typedef struct row_format {
    const char *name;
    double bytes; /* of an element, scales of its block included */
} row_format;

/* Scales: 4 bytes for 128 elements, one for 16. */
static const row_format formats[] = {
    {"fp8", 1 + 4.0 / 128}, {"nvfp4", 0.5 + 1.0 / 16}, {"bf16", 2}, {"bfloat16", 2}};

/* Rows come back in 16 bits; they go in the row's format, with DeepEP in 8 bits where
 * it names none. */
static ridge_status element_bytes(ridge_ctx *cx, const measured_record *r, bool is_back,
                                  double *out)
{
    const char *dtype = measured_record_text(r, "dtype");
    *out = is_back ? 2 : formats[0].bytes;
    if (is_back || dtype == NULL)
        return RIDGE_OK;
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++) {
        if (strcmp(dtype, formats[i].name) != 0)
            continue;
        *out = formats[i].bytes;
        return RIDGE_OK;
    }
    return ridge_fail(cx, RIDGE_E_ARG, "the format '%s' is not known", dtype);
}

static ridge_status read_ranks(ridge_ctx *cx, const measured_record *r,
                               measured_collective *c)
{
    double ranks, nodes = 1;
    RIDGE_TRY(measured_want(cx, r, "n_ranks", &ranks));
    measured_record_number(r, "n_nodes", &nodes);
    if (ranks < 2 || ranks > 1e6 || nodes < 1 || fmod(ranks, nodes) != 0)
        return ridge_fail(cx, RIDGE_E_ARG, "no exchange of %.0f ranks on %.0f nodes",
                          ranks, nodes);
    c->ranks = (int64_t)ranks;
    c->nodes = (int64_t)nodes;
    return RIDGE_OK;
}

ridge_status measured_exchange_read(ridge_ctx *cx, const measured_record *r,
                                    measured_op *out)
{
    const bool is_back = strcmp(measured_record_text(r, "op"), "expert combine") == 0;
    measured_collective *c = &out->collective;
    double tokens, width, chosen, element;
    out->class = MEASURED_COLLECTIVE;
    out->kind = is_back ? "expert combine" : "expert dispatch";
    c->kind = RIDGE_COLLECTIVE_ALL_TO_ALL;
    c->library = RIDGE_COMM_DEVICE;
    RIDGE_TRY(read_ranks(cx, r, c));
    RIDGE_TRY(measured_want(cx, r, "tokens_per_rank", &tokens));
    RIDGE_TRY(measured_want(cx, r, "hidden", &width));
    RIDGE_TRY(measured_want(cx, r, "top_k", &chosen));
    RIDGE_TRY(element_bytes(cx, r, is_back, &element));
    const double n = (double)c->ranks;
    const double copies = sends_each_copy(measured_record_text(r, "library"))
                              ? chosen
                              : ranks_hit(n, chosen);
    const double sent = tokens * copies * width * element;
    c->bytes = n * sent;
    out->what =
        ridge_sprintf(ridge_ctx_arena(cx), "%g tokens of %g a rank, %.3g copies of %s",
                      tokens, width, copies, ridge_format_bytes(width * element).s);
    if (out->what == NULL)
        return ridge_fail_nomem(cx);
    return measured_seconds(cx, r, 0, 0, &out->measured_s);
}
