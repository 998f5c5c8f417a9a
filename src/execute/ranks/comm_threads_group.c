/* Groups of thread ranks: made by the first member that asks, found by the others. */
#include "comm_threads.h"

#include <string.h>

enum { LINE_BYTES = 64 };

ridge__entry *ridge__group_entry(const ridge__thread_group *group, int64_t ticket,
                                 int rank)
{
    return &group->entries[ticket % RIDGE_PENDING_MAX * group->size + rank];
}

/** Room for entries on cache lines of their own. NULL: no memory. */
static ridge__entry *new_entries(ridge_arena *arena, int size)
{
    size_t n = (size_t)RIDGE_PENDING_MAX * (size_t)size;
    char *room = ridge_arena_new(arena, n * sizeof(ridge__entry) + LINE_BYTES, 1);
    if (room == NULL)
        return NULL;
    size_t over = (uintptr_t)room % LINE_BYTES;
    ridge__entry *entries = (void *)(room + (over == 0 ? 0 : LINE_BYTES - over));
    for (size_t i = 0; i < n; i++) {
        atomic_init(&entries[i].posted, 0);
        atomic_init(&entries[i].done, 0);
    }
    return entries;
}

static ridge__thread_group *new_group(ridge__thread_world *world, int64_t number,
                                      const int *members, int n)
{
    ridge_arena *arena = ridge_ctx_arena(world->cx);
    ridge__thread_group *group = ridge_new(arena, ridge__thread_group, 1);
    int *copies = ridge_new(arena, int, (size_t)n);
    ridge__entry *entries = new_entries(arena, n);
    if (group == NULL || copies == NULL || entries == NULL)
        return NULL;
    memcpy(copies, members, (size_t)n * sizeof *copies);
    *group = (ridge__thread_group){.size = n,
                                   .members = copies,
                                   .entries = entries,
                                   .number = number,
                                   .next = world->groups};
    world->groups = group;
    return group;
}

static bool has_members(const ridge__thread_group *group, const int *members, int n)
{
    return group->size == n &&
           memcmp(group->members, members, (size_t)n * sizeof *members) == 0;
}

/** NULL: no memory. The world's mutex is held. */
static ridge__thread_group *find_group(ridge__thread_world *world, int64_t number,
                                       const int *members, int n)
{
    for (ridge__thread_group *g = world->groups; g != NULL; g = g->next) {
        if (g->number == number && g->members[0] == members[0])
            return g;
    }
    return new_group(world, number, members, n);
}

static ridge__thread_comm *new_comm(ridge__thread_rank *me, ridge__thread_group *group)
{
    ridge__thread_comm *comm =
        ridge_new(ridge_ctx_arena(me->world->cx), ridge__thread_comm, 1);
    if (comm == NULL)
        return NULL;
    int rank = 0;
    while (group->members[rank] != me->index)
        rank++;
    comm->base = (ridge_comm){.ops = me->world->ops,
                              .engine = RIDGE_ENGINE_THREADS,
                              .rank = rank,
                              .size = group->size,
                              .members = group->members};
    comm->me = me;
    comm->group = group;
    return comm;
}

ridge_status ridge__thread_group_join(ridge_ctx *cx, ridge__thread_rank *me,
                                      const int *members, int n,
                                      ridge__thread_comm **out)
{
    ridge__thread_world *world = me->world;
    int64_t number = me->groups++;
    ridge__thread_comm *comm = NULL;
    pthread_mutex_lock(&world->mutex);
    ridge__thread_group *group = find_group(world, number, members, n);
    bool is_same = group == NULL || has_members(group, members, n);
    if (group != NULL && is_same)
        comm = new_comm(me, group);
    pthread_mutex_unlock(&world->mutex);
    if (!is_same)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "rank %d makes another group than rank %d: all ranks make "
                          "the same groups in the same order",
                          me->index, members[0]);
    if (comm == NULL)
        return ridge_fail_nomem(cx);
    *out = comm;
    return RIDGE_OK;
}
