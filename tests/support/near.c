/* The comparison behind assert_near, and how its failure reads. */
#include "near.h"

#include <math.h>
#include <stdio.h>

void ridge_assert_near(double got, double want, double rel, const char *what,
                       const char *file, int line)
{
    if (got == want)
        return;
    if (isfinite(got) && fabs(got - want) <= rel * fabs(want))
        return;
    print_error("%s: got %.12g, want %.12g within %.3g\n", what, got, want, rel);
    _fail(file, line);
}
