/* A tokenizer.bin of llama2.c that encodes its own bytes, and the same bytes as a
 * checkpoint. */
#include "ridge/execute_text.h"
#include "weight_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_weights(ridge_ctx *cx, const uint8_t *data, size_t size)
{
    const ridge__mapped_file file = {"fuzz", data, size};
    ridge_weight_source source = {.path = "fuzz", .numerics = ridge_numerics_default()};
    float out[64];
    ridge_region g = {.n_dims = 1};
    if (ridge__llama2c_read(cx, &file, &source) != RIDGE_OK)
        return;
    for (size_t i = 0; i < source.n; i++) {
        const ridge__stored_tensor *t = &source.tensors[i];
        if (t->data < data || t->data + t->bytes > data + size)
            __builtin_trap();
    }
    g.shape[0] = source.tensors[source.n - 1].shape[0];
    g.count[0] = g.shape[0] < 64 ? g.shape[0] : 64;
    if (ridge_weight_source_read(cx, &source,
                                 (ridge_weight_name){"final_norm_weight", -1}, &g, NULL,
                                 out) == RIDGE_OK)
        return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ridge_tokenizer *t;
    const ridge_str bytes = {(const char *)data, size};
    ridge_ctx *cx = ridge_ctx_open_budget(1 << 28);
    if (cx == NULL)
        return 0;
    if (ridge_tokenizer_parse_llama2c(cx, bytes, "fuzz", 0, &t) == RIDGE_OK) {
        ridge_tokens ids;
        if (ridge_tokenizer_encode(cx, t, bytes, 0, &ids) == RIDGE_OK &&
            ids.n > 2 * size + 1)
            __builtin_trap(); /* a byte is a token at most, and a space before them */
    }
    read_weights(cx, data, size);
    ridge_ctx_close(cx);
    return 0;
}
