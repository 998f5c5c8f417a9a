/* For a library that starts no threads. */
#include "gemm.h"

int ridge__library_threads_narrow(void)
{
    return 1;
}

void ridge__library_threads_restore(int threads)
{
    (void)threads;
}
