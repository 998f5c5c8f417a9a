/* The clock's readings to rates, their median and spread. */
#include "stopwatch.h"

#include "ridge/base.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Amount per second of one run, or negative when it failed. */
static double rate_of_run(const bench *b)
{
    const double start_s = ridge_clock_s();
    const double did = b->run(b->payload);
    const double took_s = ridge_clock_s() - start_s;
    if (did < 0)
        return did;
    const double amount = b->amount_per_run > 0 ? b->amount_per_run : did;
    return amount / (took_s > 0 ? took_s : 1e-9);
}

static void print_rates(const bench *b, const bench_rates *r)
{
    printf("{\"bench\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"lowest\": %.6g, "
           "\"highest\": %.6g, \"spread\": %.3f, \"repeats\": %d}\n",
           b->name, b->unit, r->median, r->lowest, r->highest,
           (r->highest - r->lowest) / r->median, r->repeats);
}

int bench_report(const bench *b, bench_rates *out)
{
    double rates[BENCH_MOST_REPEATS];
    int repeats = b->repeats > 0 ? b->repeats : BENCH_REPEATS;
    if (repeats > BENCH_MOST_REPEATS)
        repeats = BENCH_MOST_REPEATS;
    for (int i = -1; i < repeats; i++) { /* run -1 warms up and is not counted */
        const double rate = rate_of_run(b);
        if (rate < 0) {
            fprintf(stderr, "bench: %s failed\n", b->name);
            return 1;
        }
        if (i >= 0)
            rates[i] = rate;
    }
    qsort(rates, (size_t)repeats, sizeof rates[0], compare_doubles);
    const bench_rates r = {.median = rates[repeats / 2],
                           .lowest = rates[0],
                           .highest = rates[repeats - 1],
                           .repeats = repeats};
    print_rates(b, &r);
    if (out != NULL)
        *out = r;
    return 0;
}
