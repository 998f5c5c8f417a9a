/* Computations that operations of the partitioned module call: those of the module as
 * they are, and sums of two scalars for its collectives. */
#include "spmd_writer.h"

#include <string.h>

enum { CALL_DEPTH_MOST = 32 };

static const struct {
    const char *code;
    const char *of_float, *of_int, *of_pred; /* neutral; NULL: the type's own least */
} reducers[] = {
    [SPMD_REDUCER_ADD] = {"add", "0", "0", "false"},
    [SPMD_REDUCER_MULTIPLY] = {"multiply", "1", "1", "true"},
    [SPMD_REDUCER_MAXIMUM] = {"maximum", "-inf", NULL, "false"},
    [SPMD_REDUCER_MINIMUM] = {"minimum", "inf", NULL, "true"},
    [SPMD_REDUCER_AND] = {"and", "0", "-1", "true"},
    [SPMD_REDUCER_OR] = {"or", "0", "0", "false"},
    [SPMD_REDUCER_NONE] = {"add", "0", "0", "false"},
};

static const char *extreme_of(ridge_hlo_type type, bool is_least)
{
    switch ((int)type) {
    case RIDGE_HLO_S8:
        return is_least ? "-128" : "127";
    case RIDGE_HLO_S16:
        return is_least ? "-32768" : "32767";
    case RIDGE_HLO_S32:
        return is_least ? "-2147483648" : "2147483647";
    case RIDGE_HLO_S64:
        return is_least ? "-9223372036854775808" : "9223372036854775807";
    case RIDGE_HLO_U8:
        return is_least ? "0" : "255";
    case RIDGE_HLO_U16:
        return is_least ? "0" : "65535";
    case RIDGE_HLO_U32:
        return is_least ? "0" : "4294967295";
    case RIDGE_HLO_U64:
        return is_least ? "0" : "18446744073709551615";
    default:
        return "0";
    }
}

const char *spmd_neutral_of(spmd_reducer reducer, ridge_hlo_type type)
{
    if (type == RIDGE_HLO_PRED)
        return reducers[reducer].of_pred;
    if (ridge_hlo_type_is_float(type))
        return reducers[reducer].of_float;
    const char *text = reducers[reducer].of_int;
    return text ? text : extreme_of(type, reducer == SPMD_REDUCER_MAXIMUM);
}

const char *spmd_combiner_name(spmd_writer *w, spmd_reducer reducer,
                               ridge_hlo_type type)
{
    const char *t = ridge_hlo_type_text(type), *code = reducers[reducer].code;
    const char *name =
        ridge_sprintf(ridge_ctx_arena(w->m->cx), "%%combine.%s.%s", code, t);
    if (name == NULL) {
        w->out->is_short = true;
        return "";
    }
    if (w->combiners[type] & 1U << reducer)
        return name;
    w->combiners[type] |= 1U << reducer;
    ridge_buf_printf(&w->functions,
                     "%s {\n  %%a = %s[] parameter(0)\n  %%b = %s[] parameter(1)\n"
                     "  ROOT %%r = %s[] %s(%%a, %%b)\n}\n\n",
                     name, t, t, t, code);
    return name;
}

static const char *name_of(spmd_writer *w, int computation)
{
    const ridge_str name = w->m->whole->computations[computation].name;
    const char *text = ridge_sprintf(ridge_ctx_arena(w->m->cx), "%%fn.%.*s.%d",
                                     (int)name.n, name.p, computation);
    w->out->is_short |= text == NULL;
    return text ? text : "";
}

static void put_calls(spmd_writer *w, ridge_buf *out, const ridge_hlo_instruction *i)
{
    for (int k = 0; k < i->n_called; k++) {
        if (i->called[k] < 0)
            continue;
        const char *key = i->code == RIDGE_HLO_OP_WHILE
                              ? (k == 0 ? "condition" : "body")
                          : i->code == RIDGE_HLO_OP_SELECT_AND_SCATTER
                              ? (k == 0 ? "select" : "scatter")
                              : "to_apply";
        ridge_buf_printf(out, ", %s=%s", key, name_of(w, i->called[k]));
    }
}

static bool is_call_key(ridge_str key)
{
    static const char *const keys[] = {"to_apply", "calls",  "condition",
                                       "body",     "select", "scatter"};
    for (size_t k = 0; k < RIDGE_COUNT_OF(keys); k++) {
        if (ridge_str_is(key, keys[k]))
            return true;
    }
    return false;
}

static void put_instruction(spmd_writer *w, ridge_buf *out,
                            const ridge_hlo_computation *c, int k)
{
    const ridge_hlo_instruction *i = &c->instructions[k];
    ridge_buf_printf(out, "  %s%%i%d = ", k == c->root ? "ROOT " : "", k);
    ridge_hlo_shape_write(&i->shape, out);
    ridge_buf_printf(out, " %s(", ridge_hlo_opcode_text(i->code));
    if (i->code == RIDGE_HLO_OP_PARAMETER || i->code == RIDGE_HLO_OP_CONSTANT)
        ridge_buf_add(out, i->literal);
    for (int j = 0; j < i->n_operands; j++)
        ridge_buf_printf(out, "%s%%i%d", j ? ", " : "", i->operands[j]);
    ridge_buf_puts(out, ")");
    for (int a = 0; a < i->n_attributes; a++) {
        const ridge_hlo_attribute *x = &i->attributes[a];
        if (!is_call_key(x->key) && !ridge_str_is(x->key, "metadata") &&
            !ridge_str_is(x->key, "sharding") &&
            !ridge_str_is(x->key, "sdy.sharding") &&
            !ridge_str_is(x->key, "frontend_attributes"))
            ridge_buf_printf(out, ", %.*s=%.*s", (int)x->key.n, x->key.p,
                             (int)x->text.n, x->text.p);
    }
    put_calls(w, out, i);
    ridge_buf_puts(out, "\n");
}

/* What is called stands before its caller. */
static void put_function(spmd_writer *w, int computation, int depth)
{
    const ridge_hlo_computation *c = &w->m->whole->computations[computation];
    if (w->has_function[computation] || depth == CALL_DEPTH_MOST)
        return;
    w->has_function[computation] = true;
    for (int k = 0; k < c->n; k++) {
        for (int j = 0; j < c->instructions[k].n_called; j++) {
            if (c->instructions[k].called[j] >= 0)
                put_function(w, c->instructions[k].called[j], depth + 1);
        }
    }
    ridge_buf_printf(&w->functions, "%s {\n", name_of(w, computation));
    for (int k = 0; k < c->n; k++)
        put_instruction(w, &w->functions, c, k);
    ridge_buf_puts(&w->functions, "}\n\n");
}

const char *spmd_function_name(spmd_writer *w, int computation)
{
    if (computation < 0)
        return "";
    put_function(w, computation, 0);
    return name_of(w, computation);
}
