/* A lock: pthreads stay behind it. What it guards, its owner knows. */
#include "ridge/base.h"

#include <pthread.h>

struct ridge_lock {
    pthread_mutex_t mutex;
};

static void destroy(void *payload)
{
    ridge_lock *lock = payload;
    pthread_mutex_destroy(&lock->mutex);
}

static bool init_recursive(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0)
        return false;
    bool is_made =
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
        pthread_mutex_init(mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return is_made;
}

ridge_status ridge_lock_open(ridge_ctx *cx, ridge_lock **out)
{
    ridge_lock *lock = ridge_new(ridge_ctx_arena(cx), ridge_lock, 1);
    if (lock == NULL || !init_recursive(&lock->mutex))
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_ctx_defer(cx, destroy, lock));
    *out = lock;
    return RIDGE_OK;
}

void ridge_lock_take(ridge_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void ridge_lock_give(ridge_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
