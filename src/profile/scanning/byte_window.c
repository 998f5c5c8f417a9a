/* The window moves by copying what is left to its front. */
#include "byte_window.h"

#include <string.h>

ridge_status byte_window_open(ridge_ctx *cx, ridge_arena *arena, ridge_stream *stream,
                              size_t room, byte_window *out)
{
    char *buffer = ridge_new(arena, char, room);
    if (buffer == NULL)
        return ridge_fail_nomem(cx);
    *out = (byte_window){.cx = cx,
                         .arena = arena,
                         .stream = stream,
                         .buffer = buffer,
                         .room = room,
                         .p = buffer,
                         .end = buffer};
    return RIDGE_OK;
}

byte_window byte_window_of(ridge_ctx *cx, ridge_str text)
{
    return (byte_window){
        .cx = cx, .p = text.p, .end = text.p + text.n, .is_last = true};
}

void byte_window_pass(byte_window *w, const char *to)
{
    w->passed += to - w->p;
    w->p = to;
}

static ridge_status make_room(byte_window *w, bool *has_room)
{
    const size_t left = (size_t)(w->end - w->p);
    char *to = w->buffer;
    *has_room = true;
    if (2 * left > w->room) {
        *has_room = w->room < WINDOW_BYTES_MOST || left < w->room;
        if (w->room < WINDOW_BYTES_MOST) {
            to = ridge_new(w->arena, char, 2 * w->room);
            if (to == NULL)
                return ridge_fail_nomem(w->cx);
            w->room *= 2;
        }
    }
    memmove(to, w->p, left);
    w->buffer = to;
    w->p = to;
    w->end = to + left;
    return RIDGE_OK;
}

ridge_status byte_window_more(byte_window *w, bool *grew)
{
    size_t got;
    bool has_room;
    *grew = false;
    if (w->is_last)
        return RIDGE_OK;
    RIDGE_TRY(make_room(w, &has_room));
    if (!has_room)
        return RIDGE_OK;
    const size_t left = (size_t)(w->end - w->p);
    const size_t wanted = w->room - left;
    RIDGE_TRY(ridge_stream_read(w->cx, w->stream, w->buffer + left, wanted, &got));
    w->end += got;
    w->is_last = got < wanted;
    *grew = got > 0;
    return RIDGE_OK;
}
