/*
 * Messages between hosts that Mooncake measured: [{"src_host", "dst_host", "endpoints":
 * [{"src_dev", "dst_dev", "bandwidth" in MB/s, "latency" in us}]}]. Hosts to themselves
 * are left out. @source mooncake-topology
 */
#include "topology_read.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MOST = 1 << 20 };

typedef struct survey {
    ridge_ctx *cx;
    const char **hosts, **cards; /* of senders: cards with their hosts */
    double *rates, *latencies;
    size_t n;
} survey;

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_numbers);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Different names of a list, which is sorted. */
static int64_t count_names(const char **names, size_t n)
{
    int64_t count = 0;
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || strcmp(names[i], names[i - 1]) != 0;
    return count;
}

static ridge_status read_message(survey *s, const char *from, ridge_node node)
{
    const char *card;
    double mb_per_s, us;
    RIDGE_TRY(ridge_json_want_text(s->cx, ridge_json_get(&node, "src_dev"), &card));
    RIDGE_TRY(ridge_json_want_double(s->cx, ridge_json_get(&node, "bandwidth"), 1e-3,
                                     1e8, &mb_per_s));
    RIDGE_TRY(
        ridge_json_want_double(s->cx, ridge_json_get(&node, "latency"), 0, 1e8, &us));
    if (s->n == MESSAGES_MOST)
        return ridge_json_fail(s->cx, node, "more than %d messages", MESSAGES_MOST);
    s->hosts[s->n] = from;
    s->cards[s->n] = ridge_sprintf(ridge_ctx_arena(s->cx), "%s %s", from, card);
    s->rates[s->n] = mb_per_s * 1e6;
    s->latencies[s->n] = us * 1e-6;
    return s->cards[s->n++] == NULL ? ridge_fail_nomem(s->cx) : RIDGE_OK;
}

static ridge_status read_pair(survey *s, ridge_node pair)
{
    const char *from, *to;
    const ridge_node points = ridge_json_get(&pair, "endpoints");
    RIDGE_TRY(ridge_json_want_text(s->cx, ridge_json_get(&pair, "src_host"), &from));
    RIDGE_TRY(ridge_json_want_text(s->cx, ridge_json_get(&pair, "dst_host"), &to));
    if (strcmp(from, to) == 0)
        return RIDGE_OK;
    for (size_t i = 0; i < ridge_json_size(points); i++)
        RIDGE_TRY(read_message(s, from, ridge_json_at(&points, i)));
    return RIDGE_OK;
}

static ridge_status count_room(ridge_ctx *cx, ridge_node root, size_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < ridge_json_size(root); i++) {
        const ridge_node pair = ridge_json_at(&root, i);
        n += ridge_json_size(ridge_json_get(&pair, "endpoints"));
    }
    *out = n < MESSAGES_MOST ? n : MESSAGES_MOST;
    return n > 0 ? RIDGE_OK
                 : ridge_json_fail(cx, root,
                                   "no list of pairs of hosts with "
                                   "\"endpoints\"");
}

ridge_status ridge__message_survey_read(ridge_ctx *cx, ridge_node root,
                                        ridge_topology *out)
{
    survey s = {.cx = cx};
    ridge_arena *arena = ridge_ctx_arena(cx);
    size_t room;
    RIDGE_TRY(count_room(cx, root, &room));
    s.hosts = ridge_new(arena, const char *, room);
    s.cards = ridge_new(arena, const char *, room);
    s.rates = ridge_new(arena, double, room);
    s.latencies = ridge_new(arena, double, room);
    if (!s.hosts || !s.cards || !s.rates || !s.latencies)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < ridge_json_size(root); i++)
        RIDGE_TRY(read_pair(&s, ridge_json_at(&root, i)));
    if (s.n == 0)
        return ridge_json_fail(cx, root, "no messages between two hosts");
    const int64_t hosts = count_names(s.hosts, s.n);
    out->format = "messages that Mooncake measured";
    out->fabric = (ridge_fabric){.nodes = hosts,
                                 .adapters_per_node = count_names(s.cards, s.n) / hosts,
                                 .message_bytes_per_s = median_of(s.rates, s.n),
                                 .message_latency_s = median_of(s.latencies, s.n),
                                 .messages = (int64_t)s.n};
    return RIDGE_OK;
}
