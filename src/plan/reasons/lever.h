/* Numbers of a chip and its network that can be turned. */
#ifndef RIDGE_PLAN_LEVER_H
#define RIDGE_PLAN_LEVER_H

#include "ridge/hardware.h"

typedef struct lever {
    const char *name;
    const char *what;
    void (*pull)(ridge_chip *chip, ridge_slice *slice, double factor);
    bool is_better_lower;
} lever;

enum { LEVER_COUNT = 9 };

extern const lever levers[LEVER_COUNT];

/** NULL: there is none of that name. */
const lever *lever_find(const char *name);

/** Bandwidth of the axes whose names begin so. @return how many */
int lever_pull_axes(ridge_slice *slice, const char *prefix, double factor);

#endif
