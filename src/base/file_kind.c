#include "file_kind.h"

#include <stdbool.h>
#include <sys/stat.h>

static const size_t DEVICE_MOST_BYTES = (size_t)1 << 24;

size_t ridge__file_told_bytes(FILE *f)
{
    struct stat st;
    const bool is_told =
        fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    return is_told ? (size_t)st.st_size : 0;
}

size_t ridge__file_most_bytes(FILE *f, size_t most_bytes)
{
    struct stat st;
    const bool is_device = fstat(fileno(f), &st) == 0 && S_ISCHR(st.st_mode);
    return is_device && most_bytes > DEVICE_MOST_BYTES ? DEVICE_MOST_BYTES : most_bytes;
}
