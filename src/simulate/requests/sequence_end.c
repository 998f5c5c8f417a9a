/* A sequence has its first token, or its last: its times are accounted for and told. */
#include <math.h>
#include <string.h>

#include "decode_batch.h"
#include "sequence_room.h"
#include "serving_events.h"

static bool keeps(double goal_s, double is_s)
{
    return goal_s <= 0 || is_s <= goal_s;
}

static void tell_request(const serving_play *p, const play_sequence *s, double end_s,
                         bool is_good, const double *parts)
{
    ridge_request_result r = {.number = s->number,
                              .prompt_tokens = s->what.prompt_tokens,
                              .output_tokens = s->what.output_tokens,
                              .cached_tokens = s->hit_tokens,
                              .replica = s->unit,
                              .preemptions = s->preemptions,
                              .arrival_s = s->what.arrival_s,
                              .start_s = s->start_s,
                              .first_token_s = s->first_s,
                              .end_s = end_s,
                              .is_good = is_good,
                              .ttft.total_s = s->first_s - s->what.arrival_s,
                              .e2e.total_s = end_s - s->what.arrival_s};
    memcpy(r.e2e.parts_s, parts, sizeof r.e2e.parts_s);
    memcpy(r.ttft.parts_s, s->ttft_parts_s, sizeof r.ttft.parts_s);
    p->watch->request(p->watch->self, &r);
}

/* What is not accounted for otherwise, it decoded. */
static void split_whole(const play_sequence *s, double whole_s, double *parts)
{
    double known = 0;
    memcpy(parts, s->parts_s, sizeof s->parts_s);
    parts[RIDGE_LATENCY_PART_DECODE] = 0;
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++)
        known += parts[i];
    parts[RIDGE_LATENCY_PART_DECODE] = whole_s - known;
}

void ridge__sequence_complete(serving_play *p, int32_t sequence)
{
    play_sequence *s = &p->sequences[sequence];
    serving_tally *t = p->tally;
    const ridge_serving_goals *g = &p->goals;
    const double now = p->now_s, e2e = now - s->what.arrival_s;
    const double ttft = s->first_s - s->what.arrival_s;
    const double outputs = (double)s->what.output_tokens;
    const double tpot = outputs > 1 ? (now - s->first_s) / (outputs - 1) : 0;
    const bool is_good =
        keeps(g->ttft_s, ttft) && keeps(g->tpot_s, tpot) && keeps(g->e2e_s, e2e);
    double parts[RIDGE_LATENCY_PART_COUNT];
    split_whole(s, e2e, parts);
    ridge__tally_add(t, &t->e2e, e2e, parts);
    if (outputs > 1)
        ridge__tally_add(t, &t->tpot, tpot, NULL);
    t->completed++;
    t->good += is_good ? 1 : 0;
    t->last_s = fmax(t->last_s, now);
    t->prompt_tokens += (double)s->what.prompt_tokens;
    t->output_tokens += outputs;
    if (p->watch != NULL && p->watch->request != NULL)
        tell_request(p, s, now, is_good, parts);
    p->units[s->unit].load--;
    if (p->source->answered != NULL)
        p->source->answered(p->source->self, s->what.tag, now);
    ridge__sequence_free(p, sequence);
}

void ridge__sequence_answer(serving_play *p, play_sequence *s, double at_s,
                            ridge_latency_part part)
{
    serving_tally *t = p->tally;
    const double ttft = at_s - s->what.arrival_s;
    double known = 0;
    s->first_s = at_s;
    memcpy(s->ttft_parts_s, s->parts_s, sizeof s->parts_s);
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++)
        known += s->parts_s[i];
    s->ttft_parts_s[part] += ttft - known; /* so that they sum exactly */
    ridge__tally_add(t, &t->ttft, ttft, s->ttft_parts_s);
}
