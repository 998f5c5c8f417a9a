/* Waking a rank that sleeps, and stopping all. */
#include "comm_threads.h"

#include <time.h>

void ridge__world_stop(ridge__thread_world *world, int rank, ridge_status status,
                       const char *cause)
{
    pthread_mutex_lock(&world->mutex);
    if (!atomic_load(&world->is_stopped)) {
        world->failed = rank;
        world->status = status;
        atomic_store(&world->is_stopped, true);
    }
    if (world->failed == rank && cause[0] != '\0') {
        world->status = status;
        snprintf(world->cause, sizeof world->cause, "%s", cause);
    }
    pthread_cond_signal(&world->change);
    pthread_mutex_unlock(&world->mutex);
    for (int r = 0; r < world->size; r++)
        ridge__rank_wake(&world->ranks[r]);
}

void ridge__rank_wake(ridge__thread_rank *rank)
{
    if (!atomic_load(&rank->is_asleep))
        return;
    pthread_mutex_lock(&rank->mutex);
    if (atomic_load(&rank->is_asleep)) {
        atomic_store(&rank->is_asleep, false);
        pthread_cond_signal(&rank->wake);
    }
    pthread_mutex_unlock(&rank->mutex);
}
