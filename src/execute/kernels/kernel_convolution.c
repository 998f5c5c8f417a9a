/* Causal convolutions of channels along the tokens of a sequence, and their gradients.
 */
#include "kernel_simd.h"

typedef struct taps_job {
    const ridge__convolution *c;
    ridge__team *team;
    float *turned; /* [taps, channels]: weights by tap */
} taps_job;

/* Channels that a worker takes at a time. */
enum { WIDTH = 256 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void turn_weights(const ridge__convolution *c, float *turned)
{
    for (int64_t i = 0; i < c->channels; i++) {
        for (int64_t j = 0; j < c->taps; j++)
            turned[j * c->channels + i] = element_read(c->w, i * c->taps + j);
    }
}

static ridge_status open_job(ridge__device *d, const ridge__convolution *c,
                             taps_job *job)
{
    *job = (taps_job){.c = c, .team = ridge__cpu_of(d)->team};
    const size_t n = (size_t)(c->taps * c->channels);
    RIDGE_TRY(
        ridge__team_reserve_shared(job->team, d->cx, (n + LANES) * sizeof(float)));
    job->turned = ridge__team_shared(job->team);
    turn_weights(c, job->turned);
    return RIDGE_OK;
}

/* The first token that one of a sequence meets: below 0 if a tail goes before. */
static int64_t first_met(const ridge__convolution *c, int64_t sequence, int64_t t)
{
    return c->first_met != NULL ? c->first_met[sequence * c->t + t]
           : c->tail.p != NULL  ? -c->taps
                                : 0;
}

/* y += w x over n channels. */
static void add_product(float *y, const float *w, const float *x, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, vec_load(y + i) + vec_load(w + i) * vec_load(x + i));
    if (i < n) {
        const int64_t k = n - i;
        vec_store_n(y + i,
                    vec_load_n(y + i, k) + vec_load_n(w + i, k) * vec_load_n(x + i, k),
                    k);
    }
}

/* ---- forward --------------------------------------------------------------------- */

/* Input that stands @p back tokens before the first: of the tail. */
static const float *before_first(const ridge__convolution *c, int64_t sequence,
                                 int64_t channel, int64_t back, int64_t n, float *room)
{
    const int64_t kept = c->taps - 1;
    for (int64_t i = 0; i < n; i++)
        room[i] = element_read(c->tail, (sequence * c->channels + channel + i) * kept +
                                            kept - back);
    return room;
}

static void one_output(const taps_job *job, int64_t sequence, int64_t t,
                       int64_t channel, int64_t n)
{
    const ridge__convolution *c = job->c;
    const int64_t first = first_met(c, sequence, t);
    float room[WIDTH], y[WIDTH];
    memset(y, 0, sizeof y);
    if (c->bias.p != NULL)
        memcpy(y, row_read(c->bias, channel, n, room), (size_t)n * sizeof *y);
    for (int64_t j = 0; j < c->taps; j++) {
        const int64_t from = t - c->taps + 1 + j;
        const float *w = job->turned + j * c->channels + channel;
        if (from < first)
            continue;
        if (from >= 0)
            add_product(y, w,
                        row_read(c->x, (sequence * c->t + from) * c->channels + channel,
                                 n, room),
                        n);
        else
            add_product(y, w, before_first(c, sequence, channel, -from, n, room), n);
    }
    const int64_t at = (sequence * c->t + t) * c->channels + channel;
    float *to = row_begin(c->y, at, room);
    memcpy(to, y, (size_t)n * sizeof *y);
    row_end(c->y, at, n, to);
}

static void forward_part(void *payload, int worker, int workers)
{
    const taps_job *job = payload;
    const ridge__convolution *c = job->c;
    const ridge__part part = ridge__part_of(c->batch * c->t, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        for (int64_t i = 0; i < c->channels; i += WIDTH)
            one_output(job, row / c->t, row % c->t, i, least(WIDTH, c->channels - i));
    }
}

/* The last inputs move into the tail, those of a short call behind older ones. */
static void keep_tail(const ridge__convolution *c)
{
    const int64_t kept = c->taps - 1;
    for (int64_t r = 0; r < c->batch * c->channels; r++) {
        const int64_t sequence = r / c->channels, channel = r % c->channels;
        for (int64_t j = 0; j < kept; j++) {
            const int64_t from = c->t - kept + j;
            const float x =
                from >= 0 ? element_read(c->x, (sequence * c->t + from) * c->channels +
                                                   channel)
                          : element_read(c->tail, r * kept + j + c->t);
            element_write(c->tail, r * kept + j, x);
        }
    }
}

ridge_status RIDGE__KERNEL(convolution)(ridge__device *d, const ridge__convolution *c)
{
    taps_job job;
    RIDGE_TRY(open_job(d, c, &job));
    work_share(d, forward_part, &job, c->batch * c->t * c->channels);
    if (c->tail.p != NULL)
        keep_tail(c);
    return RIDGE_OK;
}

/* ---- backward -------------------------------------------------------------------- */

/* d_x_t = sum over j of w_j d_y_(t + taps - 1 - j) */
static void one_input(const taps_job *job, int64_t sequence, int64_t t, int64_t channel,
                      int64_t n)
{
    const ridge__convolution *c = job->c;
    float room[WIDTH], x[WIDTH];
    memset(x, 0, sizeof x);
    for (int64_t j = 0; j < c->taps; j++) {
        const int64_t from = t + c->taps - 1 - j;
        if (from < c->t && first_met(c, sequence, from) <= t)
            add_product(x, job->turned + j * c->channels + channel,
                        row_read(c->d_y,
                                 (sequence * c->t + from) * c->channels + channel, n,
                                 room),
                        n);
    }
    const int64_t at = (sequence * c->t + t) * c->channels + channel;
    float *to = row_begin(c->d_x, at, room);
    memcpy(to, x, (size_t)n * sizeof *x);
    row_end(c->d_x, at, n, to);
}

static void inputs_part(void *payload, int worker, int workers)
{
    const taps_job *job = payload;
    const ridge__convolution *c = job->c;
    const ridge__part part = ridge__part_of(c->batch * c->t, 1, worker, workers);
    for (int64_t row = part.first; row < part.end; row++) {
        for (int64_t i = 0; i < c->channels; i += WIDTH)
            one_input(job, row / c->t, row % c->t, i, least(WIDTH, c->channels - i));
    }
}

/* d_w_j += sum over t of d_y_t x_(t - taps + 1 + j); sums of a channel are one
 * worker's, in the order of tokens. */
static void sum_weights(const ridge__convolution *c, int64_t channel, int64_t n,
                        int64_t tap, float *sums)
{
    float rooms[2][WIDTH];
    const int64_t back = c->taps - 1 - tap;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t s = 0; s < c->batch; s++) {
        for (int64_t t = back; t < c->t; t++) {
            if (first_met(c, s, t) > t - back)
                continue;
            const int64_t at = (s * c->t + t) * c->channels + channel;
            add_product(sums, row_read(c->d_y, at, n, rooms[0]),
                        row_read(c->x, at - back * c->channels, n, rooms[1]), n);
        }
    }
}

static void sum_bias(const ridge__convolution *c, int64_t channel, int64_t n)
{
    float sums[WIDTH], room[WIDTH];
    memset(sums, 0, sizeof sums);
    for (int64_t r = 0; r < c->batch * c->t; r++)
        row_add(sums, row_read(c->d_y, r * c->channels + channel, n, room), 1.0f, n);
    for (int64_t i = 0; i < n; i++)
        element_write(c->d_bias, channel + i, sums[i]);
}

static void weights_part(void *payload, int worker, int workers)
{
    const ridge__convolution *c = ((const taps_job *)payload)->c;
    const ridge__part part = ridge__part_of(c->channels, LANES, worker, workers);
    float sums[WIDTH];
    for (int64_t i = part.first; i < part.end; i += WIDTH) {
        const int64_t n = least(WIDTH, part.end - i);
        for (int64_t j = 0; c->d_w.p != NULL && j < c->taps; j++) {
            sum_weights(c, i, n, j, sums);
            for (int64_t k = 0; k < n; k++)
                element_write(c->d_w, (i + k) * c->taps + j, sums[k]);
        }
        if (c->d_bias.p != NULL)
            sum_bias(c, i, n);
    }
}

ridge_status RIDGE__KERNEL(convolution_backward)(ridge__device *d,
                                                 const ridge__convolution *c)
{
    const int64_t elements = c->batch * c->t * c->channels;
    taps_job job;
    RIDGE_TRY(open_job(d, c, &job));
    if (c->d_x.p != NULL)
        work_share(d, inputs_part, &job, elements);
    if (c->d_w.p != NULL || c->d_bias.p != NULL)
        work_share(d, weights_part, &job, elements);
    return RIDGE_OK;
}
