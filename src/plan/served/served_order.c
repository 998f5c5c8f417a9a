/*
 * An order of measured rows by what they state: rows of one deployment lie together,
 * and in it those that state all the same.
 */
#include "served_run.h"

#include <string.h>

typedef struct text_pair {
    const char *a, *b;
} text_pair;

typedef struct number_pair {
    double a, b;
} number_pair;

static int by_texts(const text_pair *pairs, size_t n)
{
    int order = 0;
    for (size_t i = 0; i < n && order == 0; i++)
        order = strcmp(pairs[i].a, pairs[i].b);
    return order;
}

static int by_numbers(const number_pair *pairs, size_t n)
{
    int order = 0;
    for (size_t i = 0; i < n && order == 0; i++)
        order = (pairs[i].a > pairs[i].b) - (pairs[i].a < pairs[i].b);
    return order;
}

/* What kind of pool it is, but for what is asked of it. */
static int by_pools(const served_run *a, const served_run *b)
{
    int order = 0;
    for (int i = 0; i < 2 && order == 0; i++) {
        const served_pool *p = &a->pools[i], *q = &b->pools[i];
        const number_pair pairs[] = {{(double)p->tp, (double)q->tp},
                                     {(double)p->pp, (double)q->pp},
                                     {(double)p->attention_dp, (double)q->attention_dp},
                                     {(double)p->moe_tp, (double)q->moe_tp},
                                     {(double)p->ep, (double)q->ep}};
        order = by_numbers(pairs, RIDGE_COUNT_OF(pairs));
    }
    return order;
}

int served_run_by_deployment(const served_run *a, const served_run *b)
{
    const text_pair texts[] = {{a->source, b->source},
                               {a->model, b->model},
                               {a->chip, b->chip},
                               {a->framework, b->framework},
                               {a->dtype, b->dtype},
                               {a->expert_dtype, b->expert_dtype},
                               {a->cache_dtype, b->cache_dtype},
                               {a->interconnect, b->interconnect}};
    const number_pair numbers[] = {
        {(double)a->chips_per_node, (double)b->chips_per_node},
        {(double)a->planned_steps, (double)b->planned_steps},
        {(double)a->is_split, (double)b->is_split},
        {(double)a->is_unsquared, (double)b->is_unsquared}};
    int order = by_texts(texts, RIDGE_COUNT_OF(texts));
    if (order == 0)
        order = by_numbers(numbers, RIDGE_COUNT_OF(numbers));
    return order != 0 ? order : by_pools(a, b);
}

/* A server's load where the row states none: see measured_requests_per_s. */
static double load_completed(const served_run *run)
{
    if (run->mode != SERVED_OPEN || run->request_rate > 0)
        return 0;
    return run->measured_requests_per_s > 0
               ? run->measured_requests_per_s
               : run->measured[RIDGE_SERVING_METRIC_THROUGHPUT];
}

int served_run_by_statement(const served_run *a, const served_run *b)
{
    const text_pair texts[] = {{a->mode_words, b->mode_words}, {a->note, b->note}};
    const number_pair numbers[] = {
        {a->concurrency, b->concurrency},
        {a->request_rate, b->request_rate},
        {load_completed(a), load_completed(b)},
        {a->output_cap, b->output_cap},
        {(double)a->is_ranged, (double)b->is_ranged},
        {a->shortest_share, b->shortest_share},
        {a->sent, b->sent},
        {a->requests, b->requests},
        {a->input_tokens, b->input_tokens},
        {a->output_tokens, b->output_tokens},
        {a->cached_tokens, b->cached_tokens},
        {a->budget_tokens, b->budget_tokens},
        {a->weight_bytes, b->weight_bytes},
        {(double)a->mode, (double)b->mode},
        {(double)a->chips, (double)b->chips},
        {(double)a->drafted, (double)b->drafted},
        {(double)a->is_decode_rate, (double)b->is_decode_rate},
        {(double)a->pools[0].workers, (double)b->pools[0].workers},
        {(double)a->pools[1].workers, (double)b->pools[1].workers},
        {(double)a->pools[0].batch, (double)b->pools[0].batch},
        {(double)a->pools[1].batch, (double)b->pools[1].batch}};
    int order = served_run_by_deployment(a, b);
    if (order == 0)
        order = by_numbers(numbers, RIDGE_COUNT_OF(numbers));
    return order != 0 ? order : by_texts(texts, RIDGE_COUNT_OF(texts));
}
