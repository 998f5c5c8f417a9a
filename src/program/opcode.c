/* The closed lists of programs as tables: roles, operations, functions, scans, phases.
 */
#include "builder.h"

#include <string.h>

#define ROW_TEXT(name, text) text,

static const char *const roles[] = {RIDGE_ROLE_LIST(ROW_TEXT)};
static const char *const opcodes[] = {RIDGE_OPCODE_LIST(ROW_TEXT)};
static const char *const scans[] = {RIDGE_SCAN_LIST(ROW_TEXT)};
static const char *const phases[] = {[RIDGE_PHASE_TRAIN] = "train",
                                     [RIDGE_PHASE_PREFILL] = "prefill",
                                     [RIDGE_PHASE_DECODE] = "decode"};
_Static_assert(RIDGE_COUNT_OF(opcodes) == RIDGE_OPCODE_COUNT, "one row per opcode");

static const char *const parts[] = {[RIDGE_PART_ATTENTION] = "attention",
                                    [RIDGE_PART_MLP] = "mlp",
                                    [RIDGE_PART_ROUTER] = "router",
                                    [RIDGE_PART_EXPERTS] = "experts",
                                    [RIDGE_PART_NORM] = "norm"};
_Static_assert(RIDGE_COUNT_OF(parts) == RIDGE_PART_COUNT, "one row per part");

typedef struct function_row {
    const char *text;
    int inputs;
    double flops; /* an element */
} function_row;

static const function_row functions[] = {
#define FUNCTION_ROW(name, text, inputs, flops) {text, inputs, flops},
    RIDGE_FUNCTION_LIST(FUNCTION_ROW)
#undef FUNCTION_ROW
};
_Static_assert(RIDGE_COUNT_OF(functions) == RIDGE_FUNCTION_COUNT,
               "one row per function");

const char *ridge_role_text(ridge_role role)
{
    return (size_t)role < RIDGE_COUNT_OF(roles) ? roles[role] : "?";
}

const char *ridge_opcode_text(ridge_opcode code)
{
    return (size_t)code < RIDGE_COUNT_OF(opcodes) ? opcodes[code] : "?";
}

const char *ridge__part_text(ridge_part part)
{
    return (size_t)part < RIDGE_COUNT_OF(parts) ? parts[part] : "?";
}

const char *ridge_scan_text(ridge_scan scan)
{
    return (size_t)scan < RIDGE_COUNT_OF(scans) ? scans[scan] : "?";
}

const char *ridge_function_text(ridge_function f)
{
    return (size_t)f < RIDGE_COUNT_OF(functions) ? functions[f].text : "?";
}

int ridge_function_inputs(ridge_function f)
{
    return (size_t)f < RIDGE_COUNT_OF(functions) ? functions[f].inputs : 0;
}

double ridge_function_flops(ridge_function f)
{
    return (size_t)f < RIDGE_COUNT_OF(functions) ? functions[f].flops : 0;
}

const char *ridge_phase_text(ridge_phase phase)
{
    return (size_t)phase < RIDGE_COUNT_OF(phases) ? phases[phase] : "?";
}

ridge_status ridge_phase_parse(ridge_ctx *cx, const char *text, ridge_phase *out)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(phases); i++) {
        if (strcmp(text, phases[i]) == 0) {
            *out = (ridge_phase)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown phase '%.40s': one of train, prefill, decode", text);
}

static const char *const RULE_TEXT[] = {
#define RULE_ROW(name, text) text,
    RIDGE_UPDATE_RULE_LIST(RULE_ROW)
#undef RULE_ROW
};

const char *ridge_update_rule_text(ridge_update_rule rule)
{
    return RULE_TEXT[rule];
}
