/* The count that most have, such as GPUs of a node or leaves of a switch. */
#include "topology_read.h"

#include <stdlib.h>

static int compare_counts(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t ridge__usual_count(int64_t *counts, size_t n)
{
    size_t best = 0;
    int64_t usual = 0;
    if (n > 0)
        qsort(counts, n, sizeof *counts, compare_counts);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (counts[i] != counts[from])
            from = i;
        if (i - from + 1 >= best) {
            best = i - from + 1;
            usual = counts[i];
        }
    }
    return usual;
}
