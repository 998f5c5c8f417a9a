/* What stream of requests the options of `ridge simulate` describe. */
#ifndef RIDGE_CLI_REQUESTS_OPTIONS_H
#define RIDGE_CLI_REQUESTS_OPTIONS_H

#include "cli.h"

#include "ridge/plan_service.h"
#include "ridge/simulate_requests.h"

/** A stream, open. */
typedef struct requests_stream {
    ridge_request_source source;
    ridge_request_file *file; /* NULL: drawn lengths */
    const char *text;         /* in words */
    double longest_tokens;    /* bound on a request of it; 0: unknown */
    uint64_t seed;
    bool is_in_step;           /* clients that begin and end together */
    bool is_drawn;             /* by what follows */
    ridge_request_draws draws; /* as they were opened */
} requests_stream;

/** What holds where an option is silent. */
typedef struct requests_default {
    double prompt_tokens, output_tokens;
    double rate_per_s;   /* 0: a closed loop */
    int64_t concurrency; /* of it */
} requests_default;

/** "1200", "uniform:1200:50%", "lognormal:1200:0.8". @errors E_ARG with the option */
RIDGE_NODISCARD ridge_status requests_length(cli_run *run, const char *name,
                                             double fallback, ridge_length *out);
/** @errors E_ARG with the option's name, those of opening a file */
RIDGE_NODISCARD ridge_status requests_open(cli_run *run, const requests_default *silent,
                                           requests_stream *out);

/** Open a drawn stream again, at another rate. @errors as above */
RIDGE_NODISCARD ridge_status requests_reopen(cli_run *run, double rate_per_s,
                                             requests_stream *stream);

/** A time of an option, in seconds: 30s, 5m; @p fallback when it is silent. */
RIDGE_NODISCARD ridge_status requests_time(cli_run *run, const char *name,
                                           double fallback, double *out);
/** A whole number of an option. */
RIDGE_NODISCARD ridge_status requests_whole(cli_run *run, const char *name,
                                            double fallback, double most, int64_t *out);

#endif
