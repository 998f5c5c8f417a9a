/* One request: its two arenas, its message, its cancel flag, what to undo at its end.
 */
#include "ctx.h"

#include "arena.h"
#include "text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 2048 };

typedef struct deferred {
    void (*fn)(void *);
    void *payload;
    struct deferred *next;
} deferred;

struct ridge_ctx {
    ridge_budget budget;
    ridge_arena arena;
    ridge_arena scratch;
    deferred *undo; /* last in, first out */
    atomic_bool is_cancelled;
    bool has_lost_json;
    char message[MESSAGE_MAX];
};

ridge_ctx *ridge_ctx_open(void)
{
    /* In an address space of 32 bits (a browser's), a third of it. */
    const uint64_t most = SIZE_MAX / 3, wanted = (uint64_t)4 << 30;
    return ridge_ctx_open_budget((size_t)(wanted < most ? wanted : most));
}

ridge_ctx *ridge_ctx_open_budget(size_t budget_bytes)
{
    ridge_ctx *cx = calloc(1, sizeof *cx);
    if (cx == NULL)
        return NULL;
    cx->budget.limit_bytes = budget_bytes;
    ridge__arena_init(&cx->arena, &cx->budget);
    ridge__arena_init(&cx->scratch, &cx->budget);
    atomic_init(&cx->is_cancelled, false);
    return cx;
}

void ridge_ctx_close(ridge_ctx *cx)
{
    if (cx == NULL)
        return;
    for (deferred *d = cx->undo; d != NULL; d = d->next)
        d->fn(d->payload);
    ridge__arena_free(&cx->scratch);
    ridge__arena_free(&cx->arena);
    free(cx);
}

const char *ridge_ctx_message(const ridge_ctx *cx)
{
    return cx->message;
}

void ridge_ctx_clear(ridge_ctx *cx)
{
    cx->message[0] = '\0';
    cx->has_lost_json = false;
}

void ridge_ctx_cancel(ridge_ctx *cx)
{
    atomic_store(&cx->is_cancelled, true);
}

bool ridge_ctx_is_cancelled(const ridge_ctx *cx)
{
    return atomic_load(&cx->is_cancelled);
}

ridge_status ridge_fail(ridge_ctx *cx, ridge_status st, const char *fmt, ...)
{
    char text[MESSAGE_MAX]; /* the old message may be among the arguments */
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ridge__text_printable(cx->message, sizeof cx->message, text);
    return st;
}

void ridge_ctx_note(ridge_ctx *cx, const char *fmt, ...)
{
    char note[MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(note, sizeof note - 2, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    size_t used = strlen(note);
    memcpy(note + used, ": ", 3);
    used += 2;
    size_t room = sizeof note - used;
    size_t old = strlen(cx->message);
    if (old >= room)
        old = room - 1;
    memcpy(note + used, cx->message, old);
    note[used + old] = '\0';
    ridge__text_printable(cx->message, sizeof cx->message, note);
}

ridge_arena *ridge_ctx_arena(ridge_ctx *cx)
{
    return &cx->arena;
}

ridge_arena *ridge_ctx_scratch(ridge_ctx *cx)
{
    return &cx->scratch;
}

ridge_status ridge_fail_nomem(ridge_ctx *cx)
{
    return ridge_fail(cx, RIDGE_E_NOMEM,
                      "memory budget of %zu bytes exhausted: use a smaller input",
                      cx->budget.limit_bytes);
}

ridge_status ridge_ctx_defer(ridge_ctx *cx, void (*fn)(void *), void *payload)
{
    deferred *d = ridge_new(&cx->arena, deferred, 1);
    if (d == NULL) {
        fn(payload);
        return ridge_fail_nomem(cx);
    }
    *d = (deferred){fn, payload, cx->undo};
    cx->undo = d;
    return RIDGE_OK;
}

bool ridge__ctx_charge(ridge_ctx *cx, size_t bytes)
{
    ridge_budget *budget = &cx->budget;
    if (bytes > budget->limit_bytes - budget->used_bytes)
        return false;
    budget->used_bytes += bytes;
    return true;
}

void ridge__ctx_refund(ridge_ctx *cx, size_t bytes)
{
    cx->budget.used_bytes -= bytes;
}

void ridge__ctx_lose_json(ridge_ctx *cx)
{
    cx->has_lost_json = true;
}

bool ridge__ctx_has_lost_json(const ridge_ctx *cx)
{
    return cx->has_lost_json;
}
