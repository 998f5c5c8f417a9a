/* What goes wrong in a step that is played: --jitter, --stragglers and their draws. */
#include "trouble_options.h"

#include <math.h>

enum { STEPS_WITH_JITTER = 200 };

static ridge_status fail_stragglers(cli_run *run, const char *text)
{
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--stragglers '%s': write how many chips, and how many times as "
                      "long they take: 4:1.3",
                      text);
}

/* "4:1.3", "4:30%": four chips that take 1.3 times as long. */
static ridge_status read_stragglers(cli_run *run, ridge_step_trouble *t)
{
    const char *text = cli_option_text(run, "stragglers");
    double n;
    t->slowdown = 1;
    if (!text)
        return RIDGE_OK;
    ridge_str rest = ridge_str_of(text);
    const ridge_str count = ridge_str_cut(&rest, ':');
    if (!rest.p || rest.n == 0 || !ridge_parse_count(count, &n) || floor(n) != n ||
        n > 1e9)
        return fail_stragglers(run, text);
    t->stragglers = (int64_t)n;
    if (rest.p[rest.n - 1] == '%') {
        if (!ridge_parse_fraction(rest, &t->slowdown))
            return fail_stragglers(run, text);
        t->slowdown += 1;
        return RIDGE_OK;
    }
    return ridge_parse_double(rest, &t->slowdown) ? RIDGE_OK
                                                  : fail_stragglers(run, text);
}

ridge_status cli_step_trouble(cli_run *run, ridge_step_trouble *t)
{
    const char *jitter = cli_option_text(run, "jitter");
    double steps;
    double seed;
    if (jitter && !ridge_parse_fraction(ridge_str_of(jitter), &t->jitter))
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--jitter '%s' is not a share: write 5%% or 0.05", jitter);
    RIDGE_TRY(read_stragglers(run, t));
    RIDGE_TRY(cli_option_whole(run, "steps", STEPS_WITH_JITTER, 1e9, &steps));
    RIDGE_TRY(cli_option_whole(run, "seed", 1, 9e15, &seed));
    t->steps = (int64_t)steps;
    t->seed = (uint64_t)seed;
    t->workers = ridge_processor_count();
    return RIDGE_OK;
}
