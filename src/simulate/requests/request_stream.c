/*
 * A drawn stream: new requests by a process of arrivals, and those that wait for an
 * answer, of sessions and of clients in a closed loop.
 */
#include "ridge/simulate_requests.h"

#include <math.h>

#include "request_draw.h"
#include "request_file.h"

enum { STREAM_LENGTHS = 12, STREAM_THINKING = 13, SPEAKERS_FIRST = 64 };

/* A session that goes on, or a client of a closed loop. */
typedef struct stream_speaker {
    uint64_t session; /* number of it, from 1 */
    uint64_t group;
    int64_t context_tokens; /* said so far */
    int64_t turns_left;     /* of the session, with the one that is ready */
    double ready_s;
} stream_speaker;

typedef struct request_stream {
    ridge_ctx *cx;
    ridge_status status;
    ridge_request_draws draws;
    arrival_process arrivals;
    ridge_chance lengths, thinking;
    double next_s; /* of the process; INFINITY: no more */
    int64_t begun; /* sessions, or requests without sessions */
    int64_t given; /* requests */
    stream_speaker *speakers;
    int32_t *ready; /* heap of speakers that may speak, by time then session */
    int32_t *spare;
    int n_ready, n_spare, room;
} request_stream;

/* ---- speakers -------------------------------------------------------------------- */

static bool is_earlier(const request_stream *s, int32_t a, int32_t b)
{
    const stream_speaker *x = &s->speakers[a], *y = &s->speakers[b];
    return x->ready_s < y->ready_s ||
           (x->ready_s == y->ready_s && x->session < y->session);
}

static void push_ready(request_stream *s, int32_t speaker)
{
    int at = s->n_ready++;
    for (; at > 0 && is_earlier(s, speaker, s->ready[(at - 1) / 2]); at = (at - 1) / 2)
        s->ready[at] = s->ready[(at - 1) / 2];
    s->ready[at] = speaker;
}

static int32_t pop_ready(request_stream *s)
{
    const int32_t top = s->ready[0];
    const int32_t last = s->ready[--s->n_ready];
    int at = 0;
    for (int child = 1; child < s->n_ready; child = 2 * at + 1) {
        if (child + 1 < s->n_ready &&
            is_earlier(s, s->ready[child + 1], s->ready[child]))
            child++;
        if (!is_earlier(s, s->ready[child], last))
            break;
        s->ready[at] = s->ready[child];
        at = child;
    }
    s->ready[at] = last;
    return top;
}

static ridge_status grow_speakers(request_stream *s)
{
    const int room = s->room > 0 ? 2 * s->room : SPEAKERS_FIRST;
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    stream_speaker *speakers = ridge_new(arena, stream_speaker, (size_t)room);
    int32_t *ready = ridge_new(arena, int32_t, (size_t)room);
    int32_t *spare = ridge_new(arena, int32_t, (size_t)room);
    if (speakers == NULL || ready == NULL || spare == NULL)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < s->room; i++)
        speakers[i] = s->speakers[i];
    for (int i = 0; i < s->n_ready; i++)
        ready[i] = s->ready[i];
    for (int i = room - 1; i >= s->room; i--)
        spare[s->n_spare++] = i;
    s->speakers = speakers;
    s->ready = ready;
    s->spare = spare;
    s->room = room;
    return RIDGE_OK;
}

static ridge_status new_speaker(request_stream *s, int32_t *out)
{
    if (s->n_spare == 0)
        RIDGE_TRY(grow_speakers(s));
    *out = s->spare[--s->n_spare];
    return RIDGE_OK;
}

static bool has_turns(const request_stream *s)
{
    return s->draws.turns > 1;
}

static void begin_session(request_stream *s, stream_speaker *speaker)
{
    s->begun++;
    *speaker = (stream_speaker){.session = (uint64_t)s->begun,
                                .turns_left = s->draws.turns > 1 ? s->draws.turns : 1,
                                .ready_s = speaker->ready_s};
    if (s->draws.groups > 0)
        speaker->group = 1 + (uint64_t)ridge_chance_pick(&s->lengths, s->draws.groups);
}

/* ---- requests -------------------------------------------------------------------- */

static ridge_status draw_lengths(request_stream *s, ridge_request *out)
{
    bool has = false;
    if (s->draws.file == NULL) {
        out->prompt_tokens = ridge__length_draw(&s->draws.prompt, &s->lengths);
        out->output_tokens = ridge__length_draw(&s->draws.output, &s->lengths);
        return RIDGE_OK;
    }
    RIDGE_TRY(ridge__request_file_next(s->draws.file, out, &has));
    if (has)
        return RIDGE_OK;
    RIDGE_TRY(ridge__request_file_rewind(s->draws.file));
    return ridge__request_file_next(s->draws.file, out, &has);
}

/* What a speaker says next. */
static ridge_status speak(request_stream *s, stream_speaker *speaker,
                          ridge_request *out)
{
    *out = (ridge_request){.priority = 0};
    RIDGE_TRY(draw_lengths(s, out));
    if (s->draws.urgent_share > 0)
        out->priority =
            ridge_chance_uniform(&s->lengths) < s->draws.urgent_share ? 0 : 1;
    if (speaker->group != 0) {
        out->group = speaker->group;
        out->group_tokens = s->draws.prefix_tokens;
        if (speaker->context_tokens == 0)
            out->prompt_tokens += s->draws.prefix_tokens;
    }
    if (has_turns(s)) {
        out->session = speaker->session;
        out->n_hashes = 0;
        out->prompt_tokens += speaker->context_tokens;
        speaker->context_tokens = out->prompt_tokens + out->output_tokens;
    }
    speaker->turns_left--;
    s->given++;
    return RIDGE_OK;
}

static bool is_over(const request_stream *s)
{
    return s->status != RIDGE_OK ||
           (s->draws.requests > 0 && s->given >= s->draws.requests);
}

static double peek_stream(void *self)
{
    const request_stream *s = self;
    if (is_over(s))
        return (double)INFINITY;
    double at = s->next_s;
    if (s->n_ready > 0)
        at = fmin(at, s->speakers[s->ready[0]].ready_s);
    return s->draws.most_s > 0 && at > s->draws.most_s ? (double)INFINITY : at;
}

/* Whether a speaker has more to say once answered. */
static bool goes_on(const request_stream *s, const stream_speaker *speaker)
{
    return speaker->turns_left > 0 || s->draws.arrivals == RIDGE_ARRIVAL_CLOSED;
}

static ridge_status take_stream(void *self, ridge_request *out)
{
    request_stream *s = self;
    int32_t at = -1;
    const bool is_new = s->n_ready == 0 || s->next_s < s->speakers[s->ready[0]].ready_s;
    const double now = peek_stream(s);
    if (is_new) {
        RIDGE_TRY(new_speaker(s, &at));
        begin_session(s, &s->speakers[at]);
        s->next_s = now + ridge__arrivals_next(&s->arrivals);
    } else {
        at = pop_ready(s);
        if (s->speakers[at].turns_left == 0)
            begin_session(s, &s->speakers[at]);
    }
    RIDGE_TRY(speak(s, &s->speakers[at], out));
    out->arrival_s = now;
    out->tag = at;
    if (!goes_on(s, &s->speakers[at])) {
        s->spare[s->n_spare++] = at;
        out->tag = -1;
    }
    return RIDGE_OK;
}

static void answered_stream(void *self, int64_t tag, double at_s)
{
    request_stream *s = self;
    if (tag < 0)
        return;
    stream_speaker *speaker = &s->speakers[tag];
    speaker->ready_s = at_s;
    if (s->draws.think_s > 0)
        speaker->ready_s += ridge_chance_exponential(&s->thinking, s->draws.think_s);
    push_ready(s, (int32_t)tag);
}

static ridge_status stream_status(void *self)
{
    return ((request_stream *)self)->status;
}

/* ---- opening --------------------------------------------------------------------- */

static const char *const arrival_texts[] = {
#define ARRIVAL_TEXT(name, text, what) text,
    RIDGE_ARRIVAL_LIST(ARRIVAL_TEXT)
#undef ARRIVAL_TEXT
};

const char *ridge_arrival_text(ridge_arrival_kind kind)
{
    return arrival_texts[kind];
}

static const char *length_fault(const ridge_length *l)
{
    if (!(l->mean >= 1) || !(l->mean <= 1e9))
        return "lengths of prompts and outputs have a mean of 1 to 1e9 tokens";
    if (!(l->spread >= 0) || (l->kind == RIDGE_LENGTH_UNIFORM && l->spread > 1) ||
        l->spread > 100)
        return "the spread of a length is 0 to 1 when it is uniform, to 100 when not";
    if (l->most > 0 && l->least > l->most)
        return "the least length is above the most";
    return NULL;
}

static const char *fault_of(const ridge_request_draws *d)
{
    const bool has_rate =
        d->arrivals != RIDGE_ARRIVAL_CLOSED && d->arrivals != RIDGE_ARRIVAL_ATONCE;
    if (has_rate && !(d->rate_per_s > 0 && d->rate_per_s <= 1e9))
        return "arrivals need a rate above 0 and at most 1e9 requests a second";
    if (d->arrivals == RIDGE_ARRIVAL_GAMMA && !(d->shape >= 0.01 && d->shape <= 1e6))
        return "gamma arrivals need a shape of 0.01 to 1e6: 1 is Poisson";
    if (d->arrivals == RIDGE_ARRIVAL_BURSTS &&
        !(d->on_s > 0 && d->off_s > 0 && d->on_s < 1e9 && d->off_s < 1e9))
        return "bursts need a time on and a time off above 0";
    if (d->arrivals == RIDGE_ARRIVAL_CLOSED &&
        (d->concurrency < 1 || d->concurrency > 1 << 24))
        return "a closed loop needs 1 to 16 million clients";
    if (d->requests <= 0 && !(d->most_s > 0 && has_rate))
        return "a stream has to end: say how many requests, or until when";
    if (d->groups < 0 || d->prefix_tokens < 0 || d->turns < 0 || !(d->think_s >= 0) ||
        d->urgent_share < 0 || d->urgent_share > 1)
        return "prefixes, turns, times to think and shares are not negative";
    if (d->file != NULL)
        return NULL;
    const char *fault = length_fault(&d->prompt);
    return fault != NULL ? fault : length_fault(&d->output);
}

static ridge_status open_clients(request_stream *s)
{
    for (int64_t i = 0; i < s->draws.concurrency; i++) {
        int32_t at;
        RIDGE_TRY(new_speaker(s, &at));
        s->speakers[at] = (stream_speaker){.session = (uint64_t)i};
        push_ready(s, at);
    }
    s->next_s = (double)INFINITY;
    return RIDGE_OK;
}

ridge_status ridge_request_draws_open(ridge_ctx *cx, const ridge_request_draws *draws,
                                      ridge_request_source *out)
{
    const char *fault = fault_of(draws);
    if (fault != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s", fault);
    request_stream *s = ridge_new(ridge_ctx_arena(cx), request_stream, 1);
    if (s == NULL)
        return ridge_fail_nomem(cx);
    s->cx = cx;
    s->draws = *draws;
    s->arrivals = ridge__arrivals_of(draws);
    s->lengths = ridge_chance_of(draws->seed, STREAM_LENGTHS);
    s->thinking = ridge_chance_of(draws->seed, STREAM_THINKING);
    s->next_s = ridge__arrivals_next(&s->arrivals);
    if (draws->arrivals == RIDGE_ARRIVAL_CLOSED)
        RIDGE_TRY(open_clients(s));
    *out = (ridge_request_source){.self = s,
                                  .peek_s = peek_stream,
                                  .take = take_stream,
                                  .answered = answered_stream,
                                  .status = stream_status};
    return RIDGE_OK;
}
