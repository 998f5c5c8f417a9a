/* What a launcher says of the ranks that it starts. */
#include "comm_engine.h"

#include <stdlib.h>

/** The first of these variables that holds a number from @p low. */
static int find_number(const char *const *names, size_t n, int64_t low, int otherwise)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = getenv(names[i]);
        int64_t value;
        if (text != NULL && ridge_parse_i64(ridge_str_of(text), &value) &&
            value >= low && value <= INT32_MAX)
            return (int)value;
    }
    return otherwise;
}

/* Open MPI's mpirun, then Hydra's and Slurm's PMI. */
int ridge_launched_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    return find_number(names, RIDGE_COUNT_OF(names), 1, 1);
}

int ridge_launched_here(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "MPI_LOCALNRANKS"};
    return find_number(names, RIDGE_COUNT_OF(names), 1, ridge_launched_ranks());
}

int ridge_launched_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    return find_number(names, RIDGE_COUNT_OF(names), 0, 0);
}
