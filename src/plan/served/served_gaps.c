/* What a row leaves open, in words. */
#include "served_run.h"

void served_assume(served_gaps *gaps, const char *what)
{
    ridge_buf_printf(&gaps->text, "%s%s", gaps->text.n == 0 ? "" : ", ", what);
}
