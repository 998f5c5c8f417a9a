/* Any bytes as a file of requests: requests or a message, never a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ridge/simulate_requests.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(ridge_ctx *cx, ridge_request_file *file)
{
    const ridge_request_source s = ridge_request_file_source(file);
    double last = 0;
    while (isfinite(s.peek_s(s.self))) {
        ridge_request r;
        const double at = s.peek_s(s.self);
        if (s.take(s.self, &r) != RIDGE_OK)
            return;
        if (r.prompt_tokens < 1 || r.output_tokens < 1 || at < last ||
            r.arrival_s != at || r.n_hashes * r.hash_tokens > r.prompt_tokens)
            abort();
        last = at;
    }
    if (s.status(s.self) != RIDGE_OK && ridge_ctx_message(cx)[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/ridge-requests-XXXXXX";
    const ridge_request_file_options options = {.window = 8};
    ridge_request_file *file = NULL;
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    const int fd = mkstemp(path);
    if (cx == NULL || fd < 0)
        return 0;
    if (write(fd, data, size) == (ssize_t)size &&
        ridge_request_file_open(cx, path, &options, &file) == RIDGE_OK)
        read_all(cx, file);
    close(fd);
    unlink(path);
    ridge_ctx_close(cx);
    return 0;
}
