/*
 * Rows that contradict themselves, by what they say alone: no prediction is looked at.
 * Little's law ties requests in flight to their rate and their time; a mean over
 * requests far above the mean over tokens is one of a few short answers.
 * @source little1961
 */
#include "served_run.h"

/* In flight over clients. A closed loop has as many as clients, but for its beginning
 * and its end. */
static const double CLIENTS_MOST = 1.2;
static const double CLIENTS_LEAST = 0.5;

/* Time a token, the mean over requests, over gaps between tokens, the mean over these.
 * Answers of unlike length differ by less in every row that keeps Little's law. */
static const double SHORT_ANSWERS = 1.25;

const char *ridge_contradiction_text(ridge_contradiction contradiction)
{
    static const char *const texts[] = {
#define CONTRADICTION_TEXT(name, text) [RIDGE_CONTRADICTION_##name] = text,
        RIDGE_CONTRADICTION_LIST(CONTRADICTION_TEXT)
#undef CONTRADICTION_TEXT
    };
    return texts[contradiction];
}

static double in_flight(const served_run *run)
{
    const double ttft_s = run->measured[RIDGE_SERVING_METRIC_TTFT];
    const double tpot_s = run->measured[RIDGE_SERVING_METRIC_TPOT];
    if (ttft_s <= 0 || tpot_s <= 0 || run->output_tokens <= 1)
        return 0;
    return run->measured_requests_per_s * (ttft_s + (run->output_tokens - 1) * tpot_s);
}

ridge_contradiction served_contradiction(const served_run *run)
{
    const double requests = in_flight(run);
    const double clients = run->concurrency;
    const bool has_clients = clients > 0 && requests > 0 &&
                             (run->mode == SERVED_CLOSED || run->mode == SERVED_QUEUE);
    if (has_clients && requests > CLIENTS_MOST * clients)
        return RIDGE_CONTRADICTION_CLIENTS;
    if (has_clients && run->mode == SERVED_CLOSED && requests < CLIENTS_LEAST * clients)
        return RIDGE_CONTRADICTION_IDLE;
    if (run->measured_gap_s > 0 &&
        run->measured[RIDGE_SERVING_METRIC_TPOT] > SHORT_ANSWERS * run->measured_gap_s)
        return RIDGE_CONTRADICTION_GAPS;
    return RIDGE_CONTRADICTION_NONE;
}
