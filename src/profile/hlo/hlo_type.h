/* Element types and opcodes of HLO as tables. Layer-internal. */
#ifndef RIDGE_HLO_TYPE_H
#define RIDGE_HLO_TYPE_H

#include "ridge/profile_hlo.h"

/** By its number in xla_data.proto. @return false: no such type */
bool hlo_type_of_proto(int64_t number, ridge_hlo_type *out);
/** "all-gather-start" -> ALL_GATHER, START; what is not known is UNKNOWN. */
void hlo_opcode_find(ridge_str text, ridge_hlo_opcode *code, ridge_hlo_phase *phase);

#endif
