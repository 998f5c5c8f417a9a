#include "error_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Of sorted values: the middle one, or the mean of the two in the middle. */
static double median_of(const double *sorted, int n)
{
    return n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

ridge_error_summary error_summarise(const char *name, double *errors, int n)
{
    ridge_error_summary s = {.name = name, .rows = n};
    if (n == 0)
        return s;
    qsort(errors, (size_t)n, sizeof *errors, by_value);
    s.bias = median_of(errors, n);
    for (int i = 0; i < n; i++)
        errors[i] = fabs(errors[i]);
    qsort(errors, (size_t)n, sizeof *errors, by_value);
    s.median_abs = median_of(errors, n);
    const int at = (int)ceil(0.9 * n) - 1; /* the nearest rank */
    s.p90_abs = errors[at < 0 ? 0 : at];
    return s;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const error_entry *)a)->name, ((const error_entry *)b)->name);
}

ridge_status error_group(ridge_ctx *cx, error_entry *entries, int n,
                         ridge_error_groups *out)
{
    const size_t room = (size_t)n + 1;
    double *errors = ridge_new(ridge_ctx_arena(cx), double, room);
    *out = (ridge_error_groups){
        .at = ridge_new(ridge_ctx_arena(cx), ridge_error_summary, room)};
    if (errors == NULL || out->at == NULL)
        return ridge_fail_nomem(cx);
    if (n > 0)
        qsort(entries, (size_t)n, sizeof *entries, by_name);
    int first = 0;
    while (first < n) {
        int last = first;
        while (last < n && strcmp(entries[last].name, entries[first].name) == 0) {
            errors[last - first] = entries[last].error;
            last++;
        }
        out->at[out->n++] = error_summarise(entries[first].name, errors, last - first);
        first = last;
    }
    return RIDGE_OK;
}
