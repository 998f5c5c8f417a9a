/* Modules as protos of XLA. Layer-internal. */
#ifndef RIDGE_HLO_PROTO_H
#define RIDGE_HLO_PROTO_H

#include "hlo_builder.h"
#include <hlo.pb-c.h>

/** HloProto, HloModuleProto or HloSnapshot. @errors E_PARSE what is wrong; E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_proto_read(ridge_ctx *cx, ridge_str bytes,
                                            const char *path, ridge_hlo_file *out);

/** Messages are unpacked into this arena and freed with it. */
ProtobufCAllocator hlo_proto_allocator(ridge_arena *arena);

/** Attributes of an instruction, as HLO text would write them, appended to @p list in
 *  @p arena. @return false: out of memory */
bool hlo_proto_attributes(ridge_arena *arena, const Ridge__Hlo__Instruction *i,
                          hlo_list *list);
/** @param depth  of nested messages so far. @errors E_PARSE; E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_proto_shape(ridge_ctx *cx, ProtobufCBinaryData bytes,
                                             int depth, ridge_hlo_shape *out);

#endif
