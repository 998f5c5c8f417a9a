/* Any bytes as a file that may be packed: read whole or refused within a bound, with
 * what is wrong, never a crash. */
#define _GNU_SOURCE /* memfd_create */
#include "ridge/base_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void read_file(int file)
{
    char path[64];
    const char *fault = NULL;
    ridge_str text;
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    if (cx == NULL)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (ridge_file_read_unpacked(cx, path, MOST_BYTES, &fault, &text) == RIDGE_OK)
        expect(text.n <= MOST_BYTES);
    else
        expect(ridge_ctx_message(cx)[0] != '\0');
    ridge_ctx_close(cx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int file = memfd_create("fuzz", 0);
    if (file < 0)
        return 0;
    if (write(file, data, size) == (ssize_t)size)
        read_file(file);
    close(file);
    return 0;
}
