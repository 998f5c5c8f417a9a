/* Memory for the staging of calls, used again by later ones. */
#include "comm_mpi.h"

enum { ROOM_LEAST_BYTES = 4096 };

/** The first free room that fits and is not more than twice as large. */
static ridge__mpi_room *find_room(ridge__mpi_world *world, size_t bytes)
{
    ridge__mpi_room **at = &world->free_rooms, *room;
    for (; (room = *at) != NULL; at = &room->next) {
        if (room->bytes >= bytes && room->bytes / 2 <= bytes) {
            *at = room->next;
            return room;
        }
    }
    return NULL;
}

void *ridge__mpi_take(ridge__mpi_operation *op, size_t bytes)
{
    ridge__mpi_world *world = op->comm->world;
    bytes = bytes < ROOM_LEAST_BYTES ? ROOM_LEAST_BYTES : bytes;
    ridge__mpi_room *room = find_room(world, bytes);
    if (room == NULL) {
        bytes += bytes / 4; /* so that one a little larger fits next time */
        room = ridge_arena_new(ridge_ctx_arena(world->own), sizeof *room + bytes, 1);
        if (room == NULL)
            return NULL;
        room->bytes = bytes;
    }
    op->rooms[op->n_rooms++] = room;
    return room + 1;
}

void ridge__mpi_release(ridge__mpi_operation *op)
{
    ridge__mpi_world *world = op->comm->world;
    while (op->n_rooms > 0) {
        ridge__mpi_room *room = op->rooms[--op->n_rooms];
        room->next = world->free_rooms;
        world->free_rooms = room;
    }
}
