/* Hostile einsums, operations and ranges: the first byte chooses, a newline parts the
 * notation from its sizes. */
#include "ridge/cost_roofline.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_one(ridge_ctx *cx, uint8_t which, const char *text, const char *dims)
{
    static const ridge_formats formats = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_INT8,
                                          RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16};
    ridge_chip chip = {.name = "fuzz", .hbm_bytes_per_s = 1e12};
    chip.has_peak[RIDGE_DTYPE_BF16] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_BF16] = 1e14;
    ridge_einsum einsum;
    ridge_op op;
    ridge_sweep sweep;
    ridge_roofline roofline;
    if (which % 2 == 0 && ridge_einsum_parse(cx, text, dims, &einsum) == RIDGE_OK)
        (void)ridge_einsum_cost(&chip, &einsum, &formats, RIDGE_MEMORY_HBM);
    const bool has_sweep = ridge_sweep_parse(cx, dims, &sweep) == RIDGE_OK;
    const ridge_op_request request = {.text = text,
                                      .dims = has_sweep ? "" : dims,
                                      .formats = formats,
                                      .is_format_given = which % 3 == 0};
    if (ridge_op_parse(cx, &request, &op))
        return;
    if (ridge_roofline_find(cx, &chip, &op, has_sweep ? &sweep : NULL, &roofline))
        return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 4096 };
    char text[MOST + 1] = "";
    if (size < 1 || size > MOST)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    char *dims = strchr(text, '\n');
    if (dims)
        *dims++ = '\0';
    ridge_ctx *cx = ridge_ctx_open();
    if (cx)
        run_one(cx, data[0], text, dims ? dims : "");
    ridge_ctx_close(cx);
    return 0;
}
