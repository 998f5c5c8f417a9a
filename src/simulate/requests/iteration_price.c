/* The time of one iteration with chunks of prompts in it. */
#include "iteration_price.h"

#include <math.h>

#include "decode_walk.h"

/* What the lane's iteration holds, of all ranks. */
typedef struct iteration_rows {
    int64_t decoding;
    double tokens, sampled;
} iteration_rows;

static iteration_rows count_rows(const play_unit *u, const play_lane *lane)
{
    iteration_rows rows = {0};
    for (int r = 0; r < u->n_ranks && lane->is_decoding; r++)
        rows.decoding += ridge__batch_decoding(&lane->batches[r]);
    rows.tokens = rows.sampled = (double)(rows.decoding * u->speed->draft.verified);
    for (int i = 0; i < lane->n_chunks; i++) {
        rows.tokens += (double)lane->chunks[i].priced;
        rows.sampled += lane->chunks[i].is_last ? 1 : 0;
    }
    return rows;
}

static double price_attention(const ridge_serving_speed *s, const play_chunk *c)
{
    double total = 0;
    for (int i = 0; i < s->n_caches; i++)
        total +=
            ridge_plane_table_at(&s->caches[i].prefill, (double)c->priced, c->before);
    return total;
}

static double price_head(const ridge_serving_speed *s, double sampled)
{
    return sampled > 0 ? ridge_curve_table_at(&s->head, sampled) : 0;
}

static double price_alone(const ridge_serving_speed *s, const play_chunk *c,
                          double attention)
{
    return s->chunk_call_s + ridge_curve_table_at(&s->rows, (double)c->priced) +
           price_head(s, c->is_last ? 1 : 0) + attention;
}

/* Attention of the rank that takes longest, with the chunks and without. */
static double longest_attention(play_unit *u, play_lane *lane, double *without)
{
    double with = 0;
    *without = 0;
    for (int r = 0; r < u->n_ranks; r++) {
        u->rank_s[r] =
            lane->is_decoding ? ridge__attention_of_decoding(u, &lane->batches[r]) : 0;
        *without = fmax(*without, u->rank_s[r]);
    }
    for (int i = 0; i < lane->n_chunks; i++) {
        play_chunk *c = &lane->chunks[i];
        const double attention = price_attention(u->speed, c);
        u->rank_s[c->rank] += attention;
        c->own_s = price_alone(u->speed, c, attention);
    }
    for (int r = 0; r < u->n_ranks; r++)
        with = fmax(with, u->rank_s[r]);
    return with;
}

/* What the rank with the most rows does longer than in the mean. Decoding sequences are
 * dealt evenly, chunks are not. */
static double uneven_s(play_unit *u, const play_lane *lane, double tokens)
{
    const ridge_curve_table *own = &u->speed->rank_rows;
    const double ranks = (double)u->n_ranks;
    double most = 0;
    if (own->n == 0 || u->n_ranks == 1)
        return 0;
    for (int r = 0; r < u->n_ranks; r++) {
        const int64_t n =
            lane->is_decoding ? ridge__batch_decoding(&lane->batches[r]) : 0;
        u->rank_s[r] = (double)(n * u->speed->draft.verified);
    }
    for (int i = 0; i < lane->n_chunks; i++)
        u->rank_s[lane->chunks[i].rank] += (double)lane->chunks[i].priced;
    for (int r = 0; r < u->n_ranks; r++)
        most = fmax(most, u->rank_s[r]);
    return fmax(0, ridge_curve_table_at(own, most) -
                       ridge_curve_table_at(own, tokens / ranks));
}

double ridge__iteration_price(play_unit *unit, play_lane *lane)
{
    const ridge_serving_speed *s = unit->speed;
    const iteration_rows rows = count_rows(unit, lane);
    double without;
    const double attention = longest_attention(unit, lane, &without);
    lane->decode_s = ridge__rows_of_decoding(unit, rows.decoding) + without;
    lane->device_s = ridge_curve_table_at(&s->rows, rows.tokens) +
                     price_head(s, rows.sampled) + attention;
    if (rows.decoding > 0 && s->draft.verified > 1 && s->draft.draft.n > 0)
        lane->device_s += ridge_curve_table_at(&s->draft.draft, (double)rows.decoding);
    lane->device_s += lane->n_chunks > 0 ? s->chunk_call_s : 0;
    lane->device_s += uneven_s(unit, lane, rows.tokens);
    const double eager = lane->n_chunks > 0 ? s->eager_s : 0;
    lane->device_s = fmax(lane->device_s, eager);
    const double host = ridge__host_time(unit, rows.decoding + lane->n_chunks);
    for (int i = 0; i < lane->n_chunks; i++)
        lane->chunks[i].own_s = fmin(lane->chunks[i].own_s, lane->device_s);
    /* what launches one kernel after another prepares nothing meanwhile */
    return s->is_host_hidden ? fmax(lane->device_s, eager + host)
                             : lane->device_s + host;
}
