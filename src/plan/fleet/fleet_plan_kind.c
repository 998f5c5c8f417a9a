/* Whether a plan is one of a fleet. */
#include "ridge/plan_fleet.h"

#include <string.h>

bool ridge_plan_is_fleet(ridge_node root)
{
    const char *kind;
    return ridge_json_text(ridge_json_get(&root, "kind"), &kind) &&
           strcmp(kind, "fleet") == 0;
}
