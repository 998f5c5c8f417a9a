/* Repeats a piece of work, and prints how fast it went as one JSON line. */
#ifndef RIDGE_BENCH_STOPWATCH_H
#define RIDGE_BENCH_STOPWATCH_H

enum { BENCH_REPEATS = 7, BENCH_MOST_REPEATS = 99 };

/** One benchmark: what is repeated, and what one run of it amounts to. */
typedef struct bench {
    const char *name;      /* "json_parse" */
    const char *unit;      /* of the rate: "MB/s", "layouts/s" */
    double amount_per_run; /* in the unit without "/s"; 0: what run returned */
    int repeats;           /* counted runs after one to warm up; 0: BENCH_REPEATS */
    /** One run. @return what it did (see amount_per_run), or negative: it failed */
    double (*run)(void *payload);
    void *payload;
} bench;

/** Rates of the counted runs, in the bench's unit. */
typedef struct bench_rates {
    double median;
    double lowest;
    double highest;
    int repeats;
} bench_rates;

/**
 * Warm up once, run the counted repeats, print one line:
 * {"bench", "unit", "median", "lowest", "highest", "spread", "repeats"}; the spread is
 * (highest - lowest) / median.
 * @param out  may be NULL
 * @return 0, or 1 with a line on stderr when a run failed: a program's exit code
 */
int bench_report(const bench *b, bench_rates *out);

#endif
