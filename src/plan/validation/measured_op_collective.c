/* Measured collectives: sizes as nccl-tests count them. */
#include "measured_op.h"

#include <string.h>

/* Bytes on the busiest port for each byte of the message, as nccl-tests' bus bandwidth
 * counts them. @source nccl-tests */
static double bus_share(ridge_collective kind, double n)
{
    switch (kind) {
    case RIDGE_COLLECTIVE_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case RIDGE_COLLECTIVE_ALL_GATHER:
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        return (n - 1) / n;
    case RIDGE_COLLECTIVE_BROADCAST:
    case RIDGE_COLLECTIVE_SEND_RECV:
        return 1;
    }
    return 1;
}

static const struct {
    const char *name;
    ridge_collective kind;
} kinds[] = {
    {"all_reduce", RIDGE_COLLECTIVE_ALL_REDUCE},
    {"all_gather", RIDGE_COLLECTIVE_ALL_GATHER},
    {"reduce_scatter", RIDGE_COLLECTIVE_REDUCE_SCATTER},
    {"all_to_all", RIDGE_COLLECTIVE_ALL_TO_ALL},
    {"alltoall", RIDGE_COLLECTIVE_ALL_TO_ALL},
    {"send_recv", RIDGE_COLLECTIVE_SEND_RECV},
    {"broadcast", RIDGE_COLLECTIVE_BROADCAST},
    {"peer copy, one way", RIDGE_COLLECTIVE_SEND_RECV},
};

static ridge_status find_kind(ridge_ctx *cx, const char *op, ridge_collective *out)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
        if (strcmp(op, kinds[i].name) == 0) {
            *out = kinds[i].kind;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no model of collective '%s'", op);
}

/* Engines' own kernels are told by the library's or the kernel's name; calls that
 * PyTorch timed are the host's, but for point to point, which it timed on the device.
 */
static ridge_comm_library library_of(const measured_record *r, ridge_collective kind)
{
    const char *library = measured_record_text(r, "library");
    const char *kernel = measured_record_text(r, "kernel");
    const bool is_torch = (library != NULL && strstr(library, "PyTorch") != NULL) ||
                          (kernel != NULL && strcmp(kernel, "torch.distributed") == 0);
    if (is_torch && kind != RIDGE_COLLECTIVE_SEND_RECV)
        return RIDGE_COMM_EAGER;
    if (kernel != NULL && strcmp(kernel, "vllm_eager") == 0)
        return RIDGE_COMM_EAGER;
    if (library != NULL &&
        (strncmp(library, "trtllm", 6) == 0 || strncmp(library, "vllm", 4) == 0))
        return RIDGE_COMM_KERNELS;
    return RIDGE_COMM_NCCL;
}

static const char *const library_texts[] = {
    [RIDGE_COMM_NCCL] = "",
    [RIDGE_COMM_KERNELS] = ", own kernels",
    [RIDGE_COMM_DEVICE] = ", started by the chips",
    [RIDGE_COMM_EAGER] = ", not in a graph",
};

static ridge_status read_ranks(ridge_ctx *cx, const measured_record *r,
                               measured_collective *c)
{
    double ranks;
    double nodes = 1;
    if (!measured_record_either(r, "num_gpus", "n_ranks", &ranks))
        return ridge_fail(cx, RIDGE_E_ARG, "the number of ranks is not stated");
    measured_record_either(r, "num_nodes", "n_nodes", &nodes);
    if (ranks < 2 || ranks > 1e6 || nodes < 1 || nodes > ranks)
        return ridge_fail(cx, RIDGE_E_ARG, "no collective of %g ranks on %g nodes",
                          ranks, nodes);
    c->ranks = (int64_t)ranks;
    c->nodes = (int64_t)nodes;
    if (c->ranks % c->nodes != 0)
        return ridge_fail(cx, RIDGE_E_ARG, "uneven nodes: %.0f ranks on %.0f", ranks,
                          nodes);
    return RIDGE_OK;
}

static ridge_status read_seconds(ridge_ctx *cx, const measured_record *r,
                                 const measured_collective *c, double message_bytes,
                                 double *out)
{
    double rate;
    const double n = (double)c->ranks;
    if (measured_record_number(r, "busbw_gb_per_s", &rate)) {
        rate /= bus_share(c->kind, n);
    } else if (!measured_record_number(r, "algbw_gb_per_s", &rate)) {
        /* JAX's: a chip's bytes, received by all others */
        double moved;
        if (measured_record_number(r, "achieved_bandwidth_gb_per_s", &rate) &&
            measured_record_number(r, "transferred_bytes", &moved)) {
            *out = moved / (rate * 1e9);
            return RIDGE_OK;
        }
        rate = 0;
    }
    if (rate > 0)
        *out = message_bytes / (rate * 1e9);
    double us;
    if (measured_record_number(r, "latency_us", &us) || rate <= 0)
        return measured_seconds(cx, r, 0, message_bytes, out);
    return RIDGE_OK;
}

ridge_status measured_collective_read(ridge_ctx *cx, const measured_record *r,
                                      measured_op *out)
{
    double message_bytes;
    measured_collective *c = &out->collective;
    out->class = MEASURED_COLLECTIVE;
    RIDGE_TRY(find_kind(cx, measured_record_text(r, "op"), &c->kind));
    out->kind = ridge_collective_text(c->kind);
    c->library = library_of(r, c->kind);
    RIDGE_TRY(read_ranks(cx, r, c));
    RIDGE_TRY(measured_want(cx, r, "message_bytes", &message_bytes));
    c->bytes = message_bytes;
    if (c->kind == RIDGE_COLLECTIVE_ALL_TO_ALL)
        c->bytes *= (double)c->ranks; /* the message is what one rank sends */
    out->what = ridge_sprintf(ridge_ctx_arena(cx), "%s over %lld ranks on %lld nodes%s",
                              ridge_format_bytes(message_bytes).s, (long long)c->ranks,
                              (long long)c->nodes, library_texts[c->library]);
    if (out->what == NULL)
        return ridge_fail_nomem(cx);
    return read_seconds(cx, r, c, message_bytes, &out->measured_s);
}
