/* Memory of messages that protobuf-c unpacks. */
#include "hlo_proto.h"

static void *take(void *arena, size_t n)
{
    return ridge_arena_new(arena, n, 1);
}

static void leave(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer; /* the arena is freed as a whole */
}

ProtobufCAllocator hlo_proto_allocator(ridge_arena *arena)
{
    return (ProtobufCAllocator){.alloc = take, .free = leave, .allocator_data = arena};
}
