/* Any bytes as a file of data/chips: a status and a message, never a crash. */
#include <stdlib.h>

#include "chip_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_node root;
    ridge_chip *chip = NULL;
    ridge_chip *variant = NULL;
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK &&
        ridge__chip_read(cx, root, NULL, &chip) == RIDGE_OK) {
        for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
            if (!(ridge_chip_peak(chip, (ridge_dtype)i, NULL) > 0.0))
                abort();
        }
        if (ridge__chip_read(cx, root, chip, &variant) != RIDGE_OK)
            abort(); /* a whole file over itself is as good */
    }
    ridge_ctx_close(cx);
    return 0;
}
