/*
 * A measured step and a predicted one as Chrome trace events (Trace Event Format, JSON
 * object form), both from zero: process MEASURED with a track for each of the device's,
 * and the processes of the predicted step as ridge_step_trace_write numbers them.
 */
#include "ridge/report_profile.h"

#include <string.h>

enum { MEASURED = 1000000, TRACKS_MOST = 256 };

typedef struct drawing {
    ridge_ctx *cx;
    ridge_buf *out;
    const char *tracks[TRACKS_MOST];
    int n_tracks;
    bool has_event;
} drawing;

/* A JSON text, quoted and escaped. */
static void text_put(drawing *d, const char *text)
{
    ridge_buf_puts(d->out, "\"");
    for (const char *p = text; *p != 0; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            ridge_buf_printf(d->out, "\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            ridge_buf_puts(d->out, "?");
        else
            ridge_buf_add(d->out, (ridge_str){p, 1});
    }
    ridge_buf_puts(d->out, "\"");
}

static void event_begin(drawing *d)
{
    ridge_buf_puts(d->out, d->has_event ? ",\n" : "\n");
    d->has_event = true;
}

static void name_put(drawing *d, const char *what, int tid, const char *name)
{
    event_begin(d);
    ridge_buf_printf(d->out,
                     "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, "
                     "\"args\": {\"name\": ",
                     what, MEASURED, tid);
    text_put(d, name);
    ridge_buf_puts(d->out, "}}");
}

/* Names are kept once, so that pointers tell them apart. */
static int track_of(drawing *d, const char *name)
{
    for (int i = 0; i < d->n_tracks; i++) {
        if (d->tracks[i] == name)
            return i;
    }
    if (d->n_tracks == TRACKS_MOST)
        return TRACKS_MOST - 1;
    d->tracks[d->n_tracks] = name;
    name_put(d, "thread_name", d->n_tracks, name);
    return d->n_tracks++;
}

static void kept_put(drawing *d, const ridge_profile_kept *k)
{
    const int track = track_of(d, k->track);
    event_begin(d);
    ridge_buf_puts(d->out, "{\"ph\": \"X\", \"name\": ");
    text_put(d, k->name);
    ridge_buf_printf(d->out,
                     ", \"cat\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, "
                     "\"dur\": %.3f}",
                     ridge_profile_class_text(k->class), MEASURED, track,
                     1e-3 * (double)k->start_ns, 1e-3 * (double)k->length_ns);
}

/* What stands between the brackets of the events. */
static ridge_str events_of(ridge_str document)
{
    const char *first = memchr(document.p, '[', document.n);
    size_t n = document.n;
    while (n > 0 && document.p[n - 1] != ']')
        n--;
    if (first == NULL || n == 0 || document.p + n <= first + 1)
        return (ridge_str){"", 0};
    return (ridge_str){first + 1, (size_t)(document.p + n - 1 - (first + 1))};
}

ridge_status ridge_profile_write_trace(ridge_ctx *cx, const ridge_profile *profile,
                                       ridge_str step, ridge_buf *out)
{
    drawing d = {.cx = cx, .out = out};
    ridge_buf_puts(out, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
    name_put(&d, "process_name", 0,
             profile->n_devices > 0 ? ridge_sprintf(ridge_ctx_arena(cx), "measured: %s",
                                                    profile->devices[0].name)
                                    : "measured");
    for (int i = 0; i < profile->n_kept; i++)
        kept_put(&d, &profile->kept[i]);
    const ridge_str predicted = step.n > 0 ? events_of(step) : step;
    if (predicted.n > 0) {
        ridge_buf_puts(out, ",");
        ridge_buf_add(out, predicted);
    }
    ridge_buf_puts(out, "\n]}\n");
    return out->is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}
