/* Element types and opcodes of HLO as tables. */
#include "hlo_type.h"

#include <string.h>

typedef struct type_row {
    const char *text;
    size_t n; /* its length */
    int bits, proto;
} type_row;

static const type_row types[] = {
#define ROW(name, text, bits, proto)                                                   \
    [RIDGE_HLO_##name] = {text, sizeof text - 1, bits, proto},
    RIDGE_HLO_TYPE_LIST(ROW)
#undef ROW
};
_Static_assert(RIDGE_COUNT_OF(types) == RIDGE_HLO_TYPE_COUNT, "one row per enum value");

typedef struct opcode_row {
    const char *text;
    size_t n; /* its length */
    ridge_hlo_kind kind;
} opcode_row;

static const opcode_row opcodes[] = {
#define ROW(name, text, kind)                                                          \
    [RIDGE_HLO_OP_##name] = {text, sizeof text - 1, RIDGE_HLO_KIND_##kind},
    RIDGE_HLO_OPCODE_LIST(ROW)
#undef ROW
};
_Static_assert(RIDGE_COUNT_OF(opcodes) == RIDGE_HLO_OPCODE_COUNT,
               "one row per enum value");

const char *ridge_hlo_type_text(ridge_hlo_type type)
{
    return types[type].text;
}

int ridge_hlo_type_bits(ridge_hlo_type type)
{
    return types[type].bits;
}

bool ridge_hlo_type_find(ridge_str text, ridge_hlo_type *out)
{
    for (int i = 0; i < RIDGE_HLO_TYPE_COUNT; i++) {
        if (text.n == types[i].n && memcmp(text.p, types[i].text, text.n) == 0) {
            *out = (ridge_hlo_type)i;
            return true;
        }
    }
    return false;
}

bool hlo_type_of_proto(int64_t number, ridge_hlo_type *out)
{
    for (int i = 0; i < RIDGE_HLO_TYPE_COUNT; i++) {
        if (types[i].proto == number) {
            *out = (ridge_hlo_type)i;
            return true;
        }
    }
    return false;
}

bool ridge_hlo_type_is_float(ridge_hlo_type type)
{
    return type >= RIDGE_HLO_F4E2M1FN && type <= RIDGE_HLO_C128;
}

ridge_dtype ridge_hlo_type_dtype(ridge_hlo_type type)
{
    if (type == RIDGE_HLO_BF16)
        return RIDGE_DTYPE_BF16;
    if (type == RIDGE_HLO_F16)
        return RIDGE_DTYPE_FP16;
    const bool is_float = ridge_hlo_type_is_float(type);
    switch (types[type].bits) {
    case 1:
    case 2:
    case 4:
        return is_float ? RIDGE_DTYPE_FP4 : RIDGE_DTYPE_INT4;
    case 8:
        return is_float ? RIDGE_DTYPE_FP8 : RIDGE_DTYPE_INT8;
    case 16:
        return RIDGE_DTYPE_FP16;
    case 64:
    case 128:
        return RIDGE_DTYPE_FP64;
    default:
        return RIDGE_DTYPE_FP32;
    }
}

const char *ridge_hlo_opcode_text(ridge_hlo_opcode code)
{
    return opcodes[code].text;
}

ridge_hlo_kind ridge_hlo_opcode_kind(ridge_hlo_opcode code)
{
    return opcodes[code].kind;
}

/* Names that XLA has written for the same in other versions. */
static const struct {
    const char *text;
    ridge_hlo_opcode code;
} aliases[] = {
    {"optimization-barrier", RIDGE_HLO_OP_OPTIMIZATION_BARRIER},
    {"log1p", RIDGE_HLO_OP_LOG1P},
    {"expm1", RIDGE_HLO_OP_EXPM1},
    {"tuple-select", RIDGE_HLO_OP_SELECT},
    {"exp", RIDGE_HLO_OP_EXPONENTIAL},
};

static bool code_find(ridge_str text, ridge_hlo_opcode *out)
{
    for (int i = 0; i < RIDGE_HLO_OPCODE_COUNT; i++) {
        if (text.n == opcodes[i].n && memcmp(text.p, opcodes[i].text, text.n) == 0) {
            *out = (ridge_hlo_opcode)i;
            return true;
        }
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(aliases); i++) {
        if (ridge_str_is(text, aliases[i].text)) {
            *out = aliases[i].code;
            return true;
        }
    }
    return false;
}

static bool ends_with(ridge_str text, const char *end, ridge_str *before)
{
    const size_t n = strlen(end);
    if (text.n <= n || memcmp(text.p + text.n - n, end, n) != 0)
        return false;
    *before = (ridge_str){text.p, text.n - n};
    return true;
}

void hlo_opcode_find(ridge_str text, ridge_hlo_opcode *code, ridge_hlo_phase *phase)
{
    static const struct {
        const char *end;
        ridge_hlo_phase phase;
    } ends[] = {{"-start", RIDGE_HLO_START},
                {"-done", RIDGE_HLO_DONE},
                {"-update", RIDGE_HLO_UPDATE}};
    *code = RIDGE_HLO_OP_UNKNOWN;
    *phase = RIDGE_HLO_WHOLE;
    if (code_find(text, code))
        return;
    for (size_t i = 0; i < RIDGE_COUNT_OF(ends); i++) {
        ridge_str before;
        if (ends_with(text, ends[i].end, &before)) {
            *phase = ends[i].phase;
            code_find(before, code);
            return;
        }
    }
}
