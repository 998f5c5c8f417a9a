/*
 * A profile held against a plan or another profile, and turned into a system file.
 */
#ifndef RIDGE_CLI_PROFILE_AGAINST_H
#define RIDGE_CLI_PROFILE_AGAINST_H

#include "cli.h"

#include "ridge/report_profile.h"

/** --diff: two traces read and compared. @return exit code */
int cli_profile_diff(cli_run *run, const ridge_profile *before,
                     const ridge_profile *after, ridge_profile_key key);
/** --plan FILE; -o takes the merged trace. @return exit code */
int cli_profile_plan(cli_run *run, const ridge_profile *profile, const char *path);
/** --calibrate FILE. */
RIDGE_NODISCARD ridge_status cli_profile_calibrate(cli_run *run,
                                                   const ridge_profile *profile,
                                                   const char *path);

#endif
