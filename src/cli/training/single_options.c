#include "single_options.h"

ridge_status cli_refuse_single_options(cli_run *run, const char *what)
{
    static const char *const trace[] = {"timeline", NULL};
    RIDGE_TRY(cli_refuse_chip_options(run, what));
    return cli_refuse_options(run, trace, what);
}

ridge_status cli_refuse_chip_options(cli_run *run, const char *what)
{
    static const char *const single[] = {"from",    "operations", "sweep", "svg",
                                         "what-if", "reasons",    "front", "rooflines",
                                         "mfu",     NULL};
    return cli_refuse_options(run, single, what);
}
