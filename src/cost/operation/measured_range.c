/* Ranges of expected times, from how far measurements lay from them. */
#include "ridge/cost_range.h"

typedef struct spread {
    const char *what;
    double low, high; /* measured / expected, 10th and 90th percentile */
    int rows;
} spread;

#define SPREAD_ROW(name, text, low, high, rows) {text, low, high, rows},
static const spread spreads[] = {RIDGE_MEASURED_LIST(SPREAD_ROW)};
#undef SPREAD_ROW

ridge_range ridge_range_of(ridge_measured what, ridge_time time)
{
    const spread *s = &spreads[what];
    const double low_s = s->low * time.expected_s;
    const double high_s = s->high * time.expected_s;
    return (ridge_range){low_s > time.bound_s ? low_s : time.bound_s,
                         high_s > time.bound_s ? high_s : time.bound_s};
}

ridge_range ridge_range_sum(ridge_range a, ridge_range b)
{
    return (ridge_range){a.low_s + b.low_s, a.high_s + b.high_s};
}

ridge_measured ridge_measured_of_op(const ridge_op *op)
{
    switch (op->kind) {
    case RIDGE_OP_MATMUL:
    case RIDGE_OP_EINSUM:
        return RIDGE_MEASURED_MATMUL;
    case RIDGE_OP_WORK:
        return op->work_flops > 0 ? RIDGE_MEASURED_MATMUL : RIDGE_MEASURED_STREAM;
    case RIDGE_OP_ATTENTION:
        return op->is_decode ? RIDGE_MEASURED_ATTENTION_DECODE
                             : RIDGE_MEASURED_ATTENTION_PREFILL;
    case RIDGE_OP_STREAM:
        break;
    }
    return RIDGE_MEASURED_STREAM;
}

/* A broadcast sends what a gather would. */
ridge_measured ridge_measured_of_collective(ridge_collective kind)
{
    switch (kind) {
    case RIDGE_COLLECTIVE_ALL_GATHER:
    case RIDGE_COLLECTIVE_BROADCAST:
        return RIDGE_MEASURED_ALL_GATHER;
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
        return RIDGE_MEASURED_REDUCE_SCATTER;
    case RIDGE_COLLECTIVE_ALL_REDUCE:
        return RIDGE_MEASURED_ALL_REDUCE;
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        return RIDGE_MEASURED_ALL_TO_ALL;
    case RIDGE_COLLECTIVE_SEND_RECV:
        break;
    }
    return RIDGE_MEASURED_SEND_RECV;
}

const char *ridge_range_text(ridge_ctx *cx, ridge_measured what, ridge_range range)
{
    const spread *s = &spreads[what];
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "Range %s to %s: of %s measured %s, 80 %% took %.2f to %.2f "
                         "of the expected time.",
                         ridge_format_seconds(range.low_s).s,
                         ridge_format_seconds(range.high_s).s,
                         ridge_format_exact(s->rows).s, s->what, s->low, s->high);
}
