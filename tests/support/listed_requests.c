/* A source of requests that are listed. */
#include "listed_requests.h"

#include "near.h"

#include <math.h>
#include <string.h>

void listed_add(listed_requests *list, double arrival_s, int64_t prompt, int64_t output)
{
    assert_true(list->n < LISTED_MOST);
    list->of[list->n] = (ridge_request){.arrival_s = arrival_s,
                                        .prompt_tokens = prompt,
                                        .output_tokens = output,
                                        .tag = list->n};
    list->n++;
}

static double peek(void *self)
{
    const listed_requests *l = self;
    return l->given < l->n ? l->of[l->given].arrival_s : (double)INFINITY;
}

static ridge_status take(void *self, ridge_request *out)
{
    listed_requests *l = self;
    *out = l->of[l->given++];
    return RIDGE_OK;
}

static void answered(void *self, int64_t tag, double at_s)
{
    listed_requests *l = self;
    assert_true(tag >= 0 && tag < l->n && at_s >= l->of[tag].arrival_s);
    l->n_answered++;
}

static void keep(void *self, const ridge_request_result *result)
{
    listed_requests *l = self;
    l->results[result->number] = *result;
    l->has_result[result->number] = true;
}

ridge_serving_summary listed_play(listed_requests *list,
                                  const ridge_serving_deployment *deployment,
                                  const ridge_serving_goals *goals)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_request_source source = {list, peek, take, answered, NULL};
    const ridge_serving_watch watch = {.self = list, .request = keep};
    ridge_serving_summary summary;
    list->given = list->n_answered = 0;
    memset(list->has_result, 0, sizeof list->has_result);
    if (ridge_serving_play(cx, deployment, &source, goals, &watch, &summary) !=
        RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    assert_int_equal(list->n_answered, list->n);
    ridge_ctx_close(cx);
    return summary;
}

ridge_serving_speed steady_speed(double iteration_s)
{
    static const double one[] = {1}, none[] = {0};
    static const double second[] = {1}, tenth[] = {0.1};
    const double *rows = iteration_s == 1 ? second : tenth;
    return (ridge_serving_speed){.rows = {1, one, rows},
                                 .head = {1, one, none},
                                 .draft = {.verified = 1},
                                 .attention_ranks = 1,
                                 .stages = 1,
                                 .blocks = 1000,
                                 .block_tokens = 16,
                                 .chips = 1};
}

void listed_assert_times(const listed_requests *list, int request, double first_token_s,
                         double end_s)
{
    assert_true(list->has_result[request]);
    assert_near(list->results[request].first_token_s, first_token_s, 1e-12);
    assert_near(list->results[request].end_s, end_s, 1e-12);
}

double listed_part(const ridge_latency_split *split, ridge_latency_part part)
{
    return split->parts_s[part];
}
