/* What frameworks call the models of the library. */
#ifndef RIDGE_PLAN_LAUNCH_NAMES_H
#define RIDGE_PLAN_LAUNCH_NAMES_H

/** One model. Names are in lower case with '-' for '_'; NULL: the framework lacks it.
 */
typedef struct launch_name {
    const char *library;
    const char *maxtext;
    const char *titan, *flavor; /* of torchtitan, as it writes them */
} launch_name;

/** The row of a library's name, of a name of MaxText's (Primus has the same), or of
 * torchtitan's "name-flavor"; NULL: none. @param name  in lower case, with '-' */
const launch_name *launch_name_find(const char *name);
/** The row of a library's name; NULL: none. */
const launch_name *launch_name_of(const char *library);

#endif
