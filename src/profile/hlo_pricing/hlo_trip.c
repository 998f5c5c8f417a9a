#include "hlo_trip.h"
#include "hlo_attribute.h"

enum { DEPTH_MOST = 32, ARGS_MOST = 16 };
#define TRIPS_MOST 1e15

typedef enum value_kind {
    VALUE_UNKNOWN,
    VALUE_CONSTANT, /* offset */
    VALUE_ELEMENT,  /* element of the computation's tuple parameter, plus offset */
    VALUE_PARAMETER /* the tuple parameter itself */
} value_kind;

typedef struct value {
    value_kind kind;
    int64_t element;
    double offset;
} value;

/** Where an instruction is evaluated: its computation, and what was passed to it. */
typedef struct scope {
    const ridge_hlo_module *module;
    int computation;
    int n_args;
    value args[ARGS_MOST]; /* of a fusion or a call; none: a loop's own parameter */
    bool has_args;
} scope;

static value evaluate(const scope *s, int index, int depth);

static const ridge_hlo_instruction *at(const scope *s, int index)
{
    return &s->module->computations[s->computation].instructions[index];
}

static value constant_of(const ridge_hlo_instruction *i)
{
    value v = {.kind = VALUE_UNKNOWN};
    ridge_str text = i->literal.p ? i->literal : (ridge_str){NULL, 0};
    if (text.n == 0)
        text = ridge_hlo_attribute_of(i, "literal");
    if (ridge_str_is(text, "true"))
        text = ridge_str_of("1");
    if (text.p && ridge_parse_double(text, &v.offset))
        v.kind = VALUE_CONSTANT;
    return v;
}

static value parameter_of(const scope *s, const ridge_hlo_instruction *i)
{
    int64_t number;
    if (!s->has_args)
        return (value){.kind = VALUE_PARAMETER};
    if (!ridge_parse_i64(i->literal, &number) || number < 0 || number >= s->n_args)
        return (value){.kind = VALUE_UNKNOWN};
    return s->args[number];
}

static value element_of(const scope *s, const ridge_hlo_instruction *i, int depth)
{
    const value from = evaluate(s, i->operands[0], depth);
    const ridge_hlo_instruction *tuple = at(s, i->operands[0]);
    const int64_t k = hlo_attribute_int(i, "index", -1);
    if (from.kind == VALUE_PARAMETER && k >= 0)
        return (value){.kind = VALUE_ELEMENT, .element = k};
    if (tuple->code == RIDGE_HLO_OP_TUPLE && k >= 0 && k < tuple->n_operands)
        return evaluate(s, tuple->operands[k], depth);
    return (value){.kind = VALUE_UNKNOWN};
}

static value sum_of(value a, value b, double sign)
{
    if (a.kind == VALUE_CONSTANT && b.kind == VALUE_ELEMENT && sign > 0) {
        const value c = a;
        a = b;
        b = c;
    }
    if (b.kind != VALUE_CONSTANT || a.kind == VALUE_UNKNOWN ||
        a.kind == VALUE_PARAMETER)
        return (value){.kind = VALUE_UNKNOWN};
    a.offset += sign * b.offset;
    return a;
}

static value called_of(const scope *s, const ridge_hlo_instruction *i, int depth)
{
    if (i->n_called < 1 || i->called[0] < 0 || i->n_operands > ARGS_MOST)
        return (value){.kind = VALUE_UNKNOWN};
    scope inner = {.module = s->module,
                   .computation = i->called[0],
                   .n_args = i->n_operands,
                   .has_args = true};
    for (int k = 0; k < i->n_operands; k++)
        inner.args[k] = evaluate(s, i->operands[k], depth);
    const int root = s->module->computations[i->called[0]].root;
    return root < 0 ? (value){.kind = VALUE_UNKNOWN} : evaluate(&inner, root, depth);
}

static value evaluate(const scope *s, int index, int depth)
{
    const ridge_hlo_instruction *i = at(s, index);
    const value unknown = {.kind = VALUE_UNKNOWN};
    if (depth > DEPTH_MOST)
        return unknown;
    if (i->code == RIDGE_HLO_OP_CONSTANT)
        return constant_of(i);
    if (i->code == RIDGE_HLO_OP_PARAMETER)
        return parameter_of(s, i);
    if (i->n_operands < 1)
        return unknown;
    if (i->code == RIDGE_HLO_OP_GET_TUPLE_ELEMENT)
        return element_of(s, i, depth + 1);
    if (i->code == RIDGE_HLO_OP_FUSION || i->code == RIDGE_HLO_OP_CALL)
        return called_of(s, i, depth + 1);
    if (i->n_operands == 2 &&
        (i->code == RIDGE_HLO_OP_ADD || i->code == RIDGE_HLO_OP_SUBTRACT)) {
        const double sign = i->code == RIDGE_HLO_OP_ADD ? 1 : -1;
        return sum_of(evaluate(s, i->operands[0], depth + 1),
                      evaluate(s, i->operands[1], depth + 1), sign);
    }
    const bool is_same =
        i->code == RIDGE_HLO_OP_COPY || i->code == RIDGE_HLO_OP_CONVERT ||
        i->code == RIDGE_HLO_OP_BITCAST || i->code == RIDGE_HLO_OP_RESHAPE ||
        i->code == RIDGE_HLO_OP_OPTIMIZATION_BARRIER;
    return is_same ? evaluate(s, i->operands[0], depth + 1) : unknown;
}

/* ---- the loop -------------------------------------------------------------------- */

/** counter < limit and the like, as the condition says it. */
typedef struct comparison {
    value left, right;
    ridge_str direction;
} comparison;

/* The comparison at the root of a condition, through a fusion or a call. */
static bool find_comparison(scope *s, comparison *out)
{
    int index = s->module->computations[s->computation].root;
    for (int depth = 0; depth < DEPTH_MOST && index >= 0; depth++) {
        const ridge_hlo_instruction *i = at(s, index);
        if (i->code == RIDGE_HLO_OP_COMPARE && i->n_operands == 2) {
            out->left = evaluate(s, i->operands[0], 0);
            out->right = evaluate(s, i->operands[1], 0);
            out->direction = ridge_hlo_attribute_of(i, "direction");
            return true;
        }
        const bool is_call =
            i->code == RIDGE_HLO_OP_FUSION || i->code == RIDGE_HLO_OP_CALL;
        if (!is_call || i->n_called < 1 || i->called[0] < 0 ||
            i->n_operands > ARGS_MOST)
            return false;
        scope inner = {.module = s->module,
                       .computation = i->called[0],
                       .n_args = i->n_operands,
                       .has_args = true};
        for (int k = 0; k < i->n_operands; k++)
            inner.args[k] = evaluate(s, i->operands[k], 0);
        *s = inner;
        index = s->module->computations[s->computation].root;
    }
    return false;
}

/* Element k of the tuple that a body hands on, or that a loop begins with. */
static value tuple_element(const scope *s, int index, int64_t k)
{
    for (int depth = 0; depth < DEPTH_MOST && index >= 0; depth++) {
        const ridge_hlo_instruction *i = at(s, index);
        if (i->code == RIDGE_HLO_OP_TUPLE) {
            return k < i->n_operands ? evaluate(s, i->operands[k], 0)
                                     : (value){.kind = VALUE_UNKNOWN};
        }
        if (i->n_operands != 1 || (i->code != RIDGE_HLO_OP_COPY &&
                                   i->code != RIDGE_HLO_OP_OPTIMIZATION_BARRIER))
            break;
        index = i->operands[0];
    }
    return (value){.kind = VALUE_UNKNOWN};
}

/* A loop, and from where it is seen. */
typedef struct loop_view {
    scope outer, body;
    const ridge_hlo_instruction *loop;
} loop_view;

/* An operand of the comparison: before the first round, and what a round adds. */
typedef struct counter {
    double start, step;
} counter;

static bool find_counter(const loop_view *l, value v, counter *out)
{
    const ridge_hlo_module *m = l->body.module;
    *out = (counter){.start = v.offset};
    if (v.kind == VALUE_CONSTANT)
        return true;
    if (v.kind != VALUE_ELEMENT)
        return false;
    const value next =
        tuple_element(&l->body, m->computations[l->body.computation].root, v.element);
    const value first = tuple_element(&l->outer, l->loop->operands[0], v.element);
    if (next.kind != VALUE_ELEMENT || next.element != v.element ||
        first.kind != VALUE_CONSTANT)
        return false;
    out->step = next.offset;
    out->start += first.offset;
    return true;
}

/* Rounds until "left direction right" no longer holds. @return -1: never, or unknown */
static double rounds(double gap, double step, ridge_str direction)
{
    /* gap: left - right; step: what a round adds to it */
    const bool is_le = ridge_str_is(direction, "LE"),
               is_ge = ridge_str_is(direction, "GE");
    if (is_ge || ridge_str_is(direction, "GT")) {
        gap = -gap;
        step = -step;
    } else if (!is_le && !ridge_str_is(direction, "LT") &&
               !ridge_str_is(direction, "NE")) {
        return -1;
    }
    if (is_le || is_ge ? gap > 0 : gap >= 0 && !ridge_str_is(direction, "NE"))
        return 0;
    if (ridge_str_is(direction, "NE") && gap > 0) {
        gap = -gap;
        step = -step;
    }
    if (step <= 0)
        return gap == 0 && !is_le && !is_ge ? 0 : -1;
    const double n = -gap / step;
    const double whole = (double)(int64_t)n;
    if (is_le || is_ge)
        return whole + 1;
    return whole < n ? whole + 1 : whole;
}

static bool derive(const ridge_hlo_module *m, int computation,
                   const ridge_hlo_instruction *loop, double *out)
{
    const loop_view view = {.outer = {.module = m, .computation = computation},
                            .body = {.module = m, .computation = loop->called[1]},
                            .loop = loop};
    scope condition = {.module = m, .computation = loop->called[0]};
    comparison c;
    counter left, right;
    if (!find_comparison(&condition, &c) || !find_counter(&view, c.left, &left) ||
        !find_counter(&view, c.right, &right))
        return false;
    const double n =
        rounds(left.start - right.start, left.step - right.step, c.direction);
    if (n < 0 || n > TRIPS_MOST)
        return false;
    *out = n;
    return true;
}

/* {"known_trip_count":{"n":"7"}} */
static bool known(ridge_ctx *cx, const ridge_hlo_instruction *loop, double *out)
{
    const ridge_str config = ridge_hlo_attribute_of(loop, "backend_config");
    ridge_node count;
    const char *text;
    int64_t n;
    if (!config.p || !hlo_text_has(config, "known_trip_count"))
        return false;
    const ridge_node node = hlo_config_of(cx, loop);
    if (hlo_config_find(&node, "known_trip_count", 0, &count) != RIDGE_JSON_OBJECT)
        return false;
    const ridge_node value_node = ridge_json_get(&count, "n");
    if (ridge_json_text(value_node, &text)) {
        if (!ridge_parse_i64(ridge_str_of(text), &n))
            return false;
    } else if (!ridge_json_i64(value_node, &n)) {
        return false;
    }
    *out = (double)n;
    return n >= 0;
}

bool hlo_trip_count(ridge_ctx *cx, const ridge_hlo_module *module, int computation,
                    const ridge_hlo_instruction *loop, double *out)
{
    if (known(cx, loop, out))
        return true;
    const bool is_whole = loop->n_operands == 1 && loop->n_called >= 2 &&
                          loop->called[0] >= 0 && loop->called[1] >= 0;
    return is_whole && derive(module, computation, loop, out);
}
