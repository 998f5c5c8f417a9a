/* Operations that take, put and join parts of arrays. */
#include "hlo_machine_step.h"

#include <math.h>
#include <string.h>

/* ---- parts ------------------------------------------------------------------------
 */

static void run_constant(machine_step *s, int d)
{
    machine_value *out = &s->out[d];
    ridge_str text = s->i->literal;
    int64_t n = 0;
    for (size_t at = 0; at < text.n && n < out->size;) {
        size_t to = at;
        while (to < text.n && !memchr("{}, []\n", text.p[to], 7))
            to++;
        const ridge_str word = {text.p + at, to - at};
        double x = 0;
        if (ridge_str_is(word, "true"))
            x = 1;
        else if (ridge_str_is(word, "inf") || ridge_str_is(word, "-inf"))
            x = word.p[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        else if (word.n > 0 && !ridge_parse_double(word, &x))
            x = 0;
        if (word.n > 0)
            out->data[n++] = x;
        at = to + 1;
    }
    for (; n > 0 && n < out->size; n++) /* one number everywhere */
        out->data[n] = out->data[0];
}

/* [from:to:step] of each dim. */
static void read_slice(const ridge_hlo_instruction *i, int n, int64_t *from,
                       int64_t *stride)
{
    ridge_str text = ridge_hlo_attribute_of(i, "slice");
    for (int k = 0; k < n; k++) {
        int64_t to = 0;
        ridge_str_cut(&text, '[');
        ridge_str one = ridge_str_cut(&text, ']');
        stride[k] = 1;
        if (!ridge_parse_i64(ridge_str_cut(&one, ':'), &from[k]) ||
            !ridge_parse_i64(ridge_str_cut(&one, ':'), &to))
            from[k] = 0;
        if (one.p && !ridge_parse_i64(one, &stride[k]))
            stride[k] = 1;
    }
}

/* Each place of the result comes from one of the operand. */
static void run_from(machine_step *s, int d)
{
    machine_value *out = &s->out[d];
    const machine_value *in = &s->in[0][d];
    int64_t list[64] = {0}, to[MACHINE_RANK], from[MACHINE_RANK] = {0},
            shift[MACHINE_RANK] = {0};
    int64_t stride[MACHINE_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const ridge_hlo_opcode code = s->i->code;
    const int n = machine_ints(s->i, "dimensions", list);
    if (code == RIDGE_HLO_OP_SLICE)
        read_slice(s->i, in->n, shift, stride);
    for (int k = 0; k < in->n && code == RIDGE_HLO_OP_DYNAMIC_SLICE; k++) {
        const double most = (double)(in->dims[k] - out->dims[k]);
        const double at = s->in[1 + k][d].data[0];
        shift[k] = (int64_t)(at < 0 ? 0 : at > most ? most : at);
    }
    for (int64_t p = 0; p < out->size; p++) {
        machine_index_of(out, p, to);
        for (int k = 0; k < in->n; k++) {
            if (code == RIDGE_HLO_OP_BROADCAST) {
                from[k] = in->dims[k] == 1 ? 0 : to[list[k]];
            } else if (code == RIDGE_HLO_OP_TRANSPOSE) {
                from[list[k]] = to[k];
            } else if (code == RIDGE_HLO_OP_REVERSE) {
                from[k] = machine_is_in(k, list, n) ? in->dims[k] - 1 - to[k] : to[k];
            } else {
                from[k] = shift[k] + to[k] * stride[k];
            }
        }
        out->data[p] = in->data[machine_place_of(in, from)];
    }
}

static void run_pad(machine_step *s, int d)
{
    machine_value *out = &s->out[d];
    const machine_value *in = &s->in[0][d];
    int64_t low[MACHINE_RANK], at[MACHINE_RANK], list[64];
    const int n = machine_ints(s->i, "padding", list);
    const bool has_inner = n == 3 * in->n;
    for (int64_t p = 0; p < out->size; p++)
        out->data[p] = s->in[1][d].data[0];
    for (int k = 0; k < in->n; k++)
        low[k] = list[(has_inner ? 3 : 2) * k];
    for (int64_t p = 0; p < in->size; p++) {
        bool is_there = true;
        machine_index_of(in, p, at);
        for (int k = 0; k < in->n; k++) {
            at[k] += low[k];
            is_there = is_there && at[k] >= 0 && at[k] < out->dims[k];
        }
        if (is_there)
            out->data[machine_place_of(out, at)] = in->data[p];
    }
}

static void run_concatenate(machine_step *s, int d)
{
    machine_value *out = &s->out[d];
    int64_t along, at[MACHINE_RANK], base = 0;
    machine_ints(s->i, "dimensions", &along);
    for (int k = 0; k < s->i->n_operands; k++) {
        const machine_value *in = &s->in[k][d];
        for (int64_t p = 0; p < in->size; p++) {
            machine_index_of(in, p, at);
            at[along] += base;
            out->data[machine_place_of(out, at)] = in->data[p];
        }
        base += in->dims[along];
    }
}

static void run_update(machine_step *s, int d)
{
    machine_value *out = &s->out[d];
    const machine_value *in = &s->in[0][d], *part = &s->in[1][d];
    int64_t at[MACHINE_RANK], shift[MACHINE_RANK];
    memcpy(out->data, in->data, (size_t)in->size * sizeof *in->data);
    for (int k = 0; k < in->n; k++) {
        const double most = (double)(in->dims[k] - part->dims[k]);
        const double x = s->in[2 + k][d].data[0];
        shift[k] = (int64_t)(x < 0 ? 0 : x > most ? most : x);
    }
    for (int64_t p = 0; p < part->size; p++) {
        machine_index_of(part, p, at);
        for (int k = 0; k < in->n; k++)
            at[k] += shift[k];
        out->data[machine_place_of(out, at)] = part->data[p];
    }
}

static void run_iota(machine_step *s, int d)
{
    int64_t dim = 0, at[MACHINE_RANK];
    machine_ints(s->i, "iota_dimension", &dim);
    for (int64_t p = 0; p < s->out[d].size; p++) {
        machine_index_of(&s->out[d], p, at);
        s->out[d].data[p] = (double)at[dim];
    }
}

bool machine_run_part(machine_step *s, int d)
{
    switch ((int)s->i->code) {
    case RIDGE_HLO_OP_CONSTANT:
        run_constant(s, d);
        return true;
    case RIDGE_HLO_OP_IOTA:
        run_iota(s, d);
        return true;
    case RIDGE_HLO_OP_RESHAPE:
    case RIDGE_HLO_OP_BITCAST:
        memcpy(s->out[d].data, s->in[0][d].data,
               (size_t)s->in[0][d].size * sizeof(double));
        return true;
    case RIDGE_HLO_OP_BROADCAST:
    case RIDGE_HLO_OP_TRANSPOSE:
    case RIDGE_HLO_OP_SLICE:
    case RIDGE_HLO_OP_DYNAMIC_SLICE:
    case RIDGE_HLO_OP_REVERSE:
        run_from(s, d);
        return true;
    case RIDGE_HLO_OP_PAD:
        run_pad(s, d);
        return true;
    case RIDGE_HLO_OP_CONCATENATE:
        run_concatenate(s, d);
        return true;
    case RIDGE_HLO_OP_DYNAMIC_UPDATE_SLICE:
        run_update(s, d);
        return true;
    default:
        return false;
    }
}
