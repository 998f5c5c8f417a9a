/* The thread count that a library built with OpenMP heeds, which is each thread's own.
 */
#include "gemm.h"

/* omp.h belongs to one compiler; these are the standard's. */
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);

int ridge__library_threads_narrow(void)
{
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    return threads;
}

void ridge__library_threads_restore(int threads)
{
    omp_set_num_threads(threads);
}
