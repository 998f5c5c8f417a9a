/* Attributes whose value is a word of a list: kinds, parts, rules. */
#include "program_reader.h"

ridge_status ridge__reader_kind(ridge__reader *r, ridge_str value, ridge_operation *op)
{
    const bool is_norm = op->code == RIDGE_OPCODE_NORM;
    for (int i = 0; is_norm && i <= RIDGE_NORM_LAYER; i++) {
        op->norm = (ridge_norm_kind)i;
        if (ridge_str_is(value, ridge_norm_kind_text(op->norm)))
            return RIDGE_OK;
    }
    for (int i = 0; !is_norm && i < RIDGE_SCAN_COUNT; i++) {
        op->scan = (ridge_scan)i;
        if (ridge_str_is(value, ridge_scan_text(op->scan)))
            return RIDGE_OK;
    }
    return ridge__reader_fail(
        r, (size_t)(value.p - r->text.p),
        is_norm ? "a norm is of kind rms or layer"
                : "a scan is of kind linear, delta, convolution, select or pool");
}

ridge_status ridge__reader_part(ridge__reader *r, ridge_str value, ridge_operation *op)
{
    for (int i = 0; i < RIDGE_PART_COUNT; i++) {
        if (ridge_str_is(value, ridge__part_text((ridge_part)i))) {
            op->part = (ridge_part)i;
            return RIDGE_OK;
        }
    }
    return ridge__reader_fail(r, (size_t)(value.p - r->text.p),
                              "a part is attention, mlp, router, experts or norm");
}

ridge_status ridge__reader_rule(ridge__reader *r, ridge_str value, ridge_operation *op)
{
    for (int i = 0; i < RIDGE_UPDATE_RULE_COUNT; i++) {
        if (ridge_str_is(value, ridge_update_rule_text((ridge_update_rule)i))) {
            op->rule = (ridge_update_rule)i;
            return RIDGE_OK;
        }
    }
    return ridge__reader_fail(r, (size_t)(value.p - r->text.p),
                              "a rule is moments, muon or adafactor");
}
