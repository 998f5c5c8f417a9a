/* Tokens to train on: segments one behind another, and sequences drawn from them. */
#include "token_data.h"

#include <string.h>

/* ---- reading tokens -------------------------------------------------------------- */

static const ridge__token_segment *segment_at(const ridge_token_data *data, int64_t at)
{
    size_t low = 0, high = data->n_segments;
    while (high - low > 1) {
        const size_t mid = low + (high - low) / 2;
        if (data->segments[mid].first <= at)
            low = mid;
        else
            high = mid;
    }
    return &data->segments[low];
}

int32_t ridge__token_segment_id(const ridge__token_segment *s, int64_t index)
{
    if (s->ids != NULL)
        return s->ids[index];
    const unsigned char *p = s->stored + index * s->width;
    const uint32_t low = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    if (s->width == 2)
        return (int32_t)low;
    return (int32_t)(low | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

/* n ids from place @p at of all. */
static void copy_ids(const ridge_token_data *data, int64_t at, int64_t n, int32_t *out)
{
    while (n > 0) {
        const ridge__token_segment *s = segment_at(data, at);
        const int64_t from = at - s->first, rest = s->n - from;
        const int64_t some = rest < n ? rest : n;
        for (int64_t i = 0; i < some; i++)
            out[i] = ridge__token_segment_id(s, from + i);
        at += some;
        out += some;
        n -= some;
    }
}

/* ---- parts ----------------------------------------------------------------------- */

static int64_t part_start(const ridge_token_data *data, ridge_data_part part)
{
    return part == RIDGE_DATA_TRAIN ? 0 : data->n_train;
}

int64_t ridge_token_data_count(const ridge_token_data *data, ridge_data_part part)
{
    return part == RIDGE_DATA_TRAIN ? data->n_train : data->n - data->n_train;
}

double ridge_token_data_bytes(const ridge_token_data *data, ridge_data_part part)
{
    return data->bytes[part];
}

static const char *part_text(ridge_data_part part)
{
    return part == RIDGE_DATA_TRAIN ? "train on" : "evaluate with";
}

ridge_status ridge_token_data_check(ridge_ctx *cx, const ridge_token_data *data,
                                    ridge_data_part part, int64_t seq_tokens)
{
    const int64_t have = ridge_token_data_count(data, part);
    if (seq_tokens < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "sequences of %lld tokens",
                          (long long)seq_tokens);
    if (have > seq_tokens)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%lld tokens to %s, but a sequence of %lld needs one more than "
                      "that: give more text or a shorter sequence",
                      (long long)have, part_text(part), (long long)seq_tokens);
}

/* ---- sequences ------------------------------------------------------------------- */

/* @source steele2014 */
static uint64_t mixed(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void copy_sequence(const ridge_token_data *data, int64_t at, int64_t seq_tokens,
                          int32_t *inputs, int32_t *labels)
{
    copy_ids(data, at, seq_tokens, inputs);
    copy_ids(data, at + 1, seq_tokens, labels);
}

void ridge_token_data_draw(const ridge_token_data *data, const ridge_draw *draw,
                           int32_t *inputs, int32_t *labels)
{
    const uint64_t step = mixed(mixed(draw->seed) ^ (uint64_t)draw->step);
    const uint64_t drawn = mixed(step ^ (uint64_t)draw->sequence);
    const int64_t places = ridge_token_data_count(data, draw->part) - draw->seq_tokens;
    const int64_t at = (int64_t)(drawn % (uint64_t)places);
    copy_sequence(data, part_start(data, draw->part) + at, draw->seq_tokens, inputs,
                  labels);
}

int64_t ridge_token_data_windows(const ridge_token_data *data, ridge_data_part part,
                                 int64_t seq_tokens)
{
    const int64_t n = ridge_token_data_count(data, part);
    return n < 1 || seq_tokens < 1 ? 0 : (n - 1) / seq_tokens;
}

void ridge_token_data_window(const ridge_token_data *data, ridge_data_part part,
                             int64_t index, int64_t seq_tokens, int32_t *inputs,
                             int32_t *labels)
{
    copy_sequence(data, part_start(data, part) + index * seq_tokens, seq_tokens, inputs,
                  labels);
}
