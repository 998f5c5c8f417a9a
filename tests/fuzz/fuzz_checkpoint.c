/* A checkpoint of one rank: the first two bytes say where in the input its
 * checkpoint.json ends and its rank-00000.safetensors begins. */
#include "ridge/execute_weights.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FLOATS = 1 << 12 };

static void put(const char *dir, const char *name, const uint8_t *data, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return;
    fwrite(data, 1, n, f);
    fclose(f);
}

static void drop(const char *dir, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
}

static void read_all(ridge_ctx *cx, const ridge_checkpoint_reader *r)
{
    for (size_t i = 0; i < ridge_checkpoint_reader_count(r); i++) {
        static float out[MOST_FLOATS];
        const ridge_checkpoint_tensor t = ridge_checkpoint_reader_tensor(r, i);
        const ridge_checkpoint_part want = {.name = t.name,
                                            .layer = t.layer,
                                            .element = t.element,
                                            .region =
                                                ridge_region_whole(t.n_dims, t.shape)};
        if (ridge_region_elements(&want.region) > MOST_FLOATS)
            continue;
        if (ridge_checkpoint_reader_read(cx, r, &want, out) != RIDGE_OK)
            __builtin_trap(); /* what was opened can be read */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "fuzz_checkpoint.XXXXXX";
    const ridge_checkpoint_reader *r;
    ridge_ctx *cx = size < 2 || mkdtemp(dir) == NULL ? NULL : ridge_ctx_open();
    if (cx == NULL)
        return 0;
    const size_t cut = (size_t)data[0] | (size_t)data[1] << 8;
    const size_t json = cut < size - 2 ? cut : size - 2;
    put(dir, "checkpoint.json", data + 2, json);
    put(dir, "rank-00000.safetensors", data + 2 + json, size - 2 - json);
    if (ridge_checkpoint_reader_open(cx, dir, &r) == RIDGE_OK)
        read_all(cx, r);
    ridge_ctx_close(cx);
    drop(dir, "checkpoint.json");
    drop(dir, "rank-00000.safetensors");
    rmdir(dir);
    return 0;
}
