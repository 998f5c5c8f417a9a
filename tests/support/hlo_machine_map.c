/* Elementwise operations. */
#include "hlo_machine_step.h"

#include <math.h>

static double as_type(ridge_hlo_type type, double x)
{
    if (type == RIDGE_HLO_PRED)
        return x != 0;
    if (ridge_hlo_type_is_float(type) || !isfinite(x))
        return x;
    return trunc(x);
}

/* ---- elementwise ------------------------------------------------------------------
 */

static double unary(ridge_hlo_opcode code, double a)
{
    switch ((int)code) {
    case RIDGE_HLO_OP_NEGATE:
        return -a;
    case RIDGE_HLO_OP_ABS:
        return fabs(a);
    case RIDGE_HLO_OP_NOT:
        return a == 0;
    case RIDGE_HLO_OP_EXPONENTIAL:
        return exp(a);
    case RIDGE_HLO_OP_LOG:
        return log(a);
    case RIDGE_HLO_OP_TANH:
        return tanh(a);
    case RIDGE_HLO_OP_SQRT:
        return sqrt(a);
    case RIDGE_HLO_OP_RSQRT:
        return 1 / sqrt(a);
    case RIDGE_HLO_OP_LOGISTIC:
        return 1 / (1 + exp(-a));
    case RIDGE_HLO_OP_SINE:
        return sin(a);
    case RIDGE_HLO_OP_COSINE:
        return cos(a);
    default:
        return a;
    }
}

static double binary(ridge_hlo_opcode code, double a, double b)
{
    switch ((int)code) {
    case RIDGE_HLO_OP_ADD:
        return a + b;
    case RIDGE_HLO_OP_SUBTRACT:
        return a - b;
    case RIDGE_HLO_OP_MULTIPLY:
        return a * b;
    case RIDGE_HLO_OP_DIVIDE:
        return a / b;
    case RIDGE_HLO_OP_REMAINDER:
        return fmod(a, b);
    case RIDGE_HLO_OP_MAXIMUM:
        return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
    case RIDGE_HLO_OP_MINIMUM:
        return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
    case RIDGE_HLO_OP_AND:
        return a != 0 && b != 0;
    case RIDGE_HLO_OP_OR:
        return a != 0 || b != 0;
    default:
        return pow(a, b);
    }
}

static double compare(ridge_str direction, double a, double b)
{
    if (ridge_str_is(direction, "LT"))
        return a < b;
    if (ridge_str_is(direction, "LE"))
        return a <= b;
    if (ridge_str_is(direction, "GT"))
        return a > b;
    if (ridge_str_is(direction, "GE"))
        return a >= b;
    return ridge_str_is(direction, "EQ") ? a == b : a != b;
}

static double operand_at(const machine_value *v, int64_t place)
{
    return v->data[v->n == 0 ? 0 : place];
}

bool machine_run_map(machine_step *s, int d)
{
    machine_value *out = &s->out[d];
    const ridge_hlo_kind kind = ridge_hlo_opcode_kind(s->i->code);
    if (kind != RIDGE_HLO_KIND_MAP && kind != RIDGE_HLO_KIND_HARD)
        return false;
    const ridge_str direction = ridge_hlo_attribute_of(s->i, "direction");
    for (int64_t p = 0; p < out->size; p++) {
        const double a = operand_at(&s->in[0][d], p);
        const double b = s->i->n_operands > 1 ? operand_at(&s->in[1][d], p) : 0;
        const double c = s->i->n_operands > 2 ? operand_at(&s->in[2][d], p) : 0;
        double x;
        if (s->i->code == RIDGE_HLO_OP_SELECT)
            x = a != 0 ? b : c;
        else if (s->i->code == RIDGE_HLO_OP_CLAMP)
            x = b < a ? a : b > c ? c : b;
        else if (s->i->code == RIDGE_HLO_OP_COMPARE)
            x = compare(direction, a, b);
        else
            x = s->i->n_operands == 2 ? binary(s->i->code, a, b) : unary(s->i->code, a);
        out->data[p] = as_type(out->type, x);
    }
    return true;
}
