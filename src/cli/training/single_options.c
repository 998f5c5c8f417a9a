#include "single_options.h"

ridge_status cli_refuse_single_options(cli_run *run, const char *what)
{
    static const char *const single[] = {"from",      "timeline", "operations", "sweep",
                                         "svg",       "what-if",  "reasons",    "front",
                                         "rooflines", "mfu"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(single); i++) {
        if (cli_option_text(run, single[i]) != NULL)
            return ridge_fail(run->cx, RIDGE_E_ARG, "--%s %s", single[i], what);
    }
    return RIDGE_OK;
}
