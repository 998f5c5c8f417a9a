/* The options of a verb that tell where a run takes place: price, failures, storage,
 * power. */
#ifndef RIDGE_CLI_MONEY_OPTIONS_H
#define RIDGE_CLI_MONEY_OPTIONS_H

#include "cli.h"

#include "ridge/plan_money.h"

/* Rows for the table of a verb's options. */
/* clang-format off */
#define CLI_MONEY_OPTIONS                                                                 \
    {"price", "PRICE",                                                                    \
     "dollars a chip-hour, or a listed price: 2.5, aws, spot, google:us-east5:reserved-1y"}, \
    {"site", "NAME", "where it runs: PUE, storage, restart times of data/sites (reference)"}, \
    {"mtbf", "TIME", "between failures: 2.8h of the job, node:4000h, chip:5y"},           \
    {"failures", "RECORD", "a record of data/failures (that of the chip), or none"},      \
    {"checkpoint", "WAY", "sync (default) or async, with an own interval: 30m, async:10m"}, \
    {"storage", "BYTES", "a second, of all nodes together: 2TB (the site's)"},            \
    {"restart", "TIME", "from a failure until the job loads its checkpoint: 10m (the site's)"}, \
    {"spares", "NODES", "nodes kept idle for those that fail, paid like the others (0)"}, \
    {"repair", "TIME", "until a failed node is back; work waits when spares run out"},    \
    {"watts", "W", "a chip draws, host and network among it (the data's)"},               \
    {"pue", "RATIO", "energy at the meter over that of the machines (the site's)"},       \
    {"kwh-price", "USD", "dollars a kilowatt-hour, for the cost of the energy"}
/* clang-format on */

/** Whether one of these options was given. */
bool cli_money_is_asked(const cli_run *run);

/** What the options tell, and what the data knows of @p chip beside them.
 * @errors E_ARG, E_NOTFOUND with the option's name */
RIDGE_NODISCARD ridge_status cli_money(cli_run *run, const ridge_chip *chip,
                                       ridge_money_request *out);
/** The same without a price, for a chip that has none of the price's name. */
RIDGE_NODISCARD ridge_status cli_money_unpriced(cli_run *run, const ridge_chip *chip,
                                                ridge_money_request *out);

#endif
