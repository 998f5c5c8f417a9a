/* Files of HLO: which format they are in, and their reader. */
#include "hlo_proto.h"
#include "hlo_text.h"
#include "mlir_text.h"

#include "ridge/base_stream.h"

#include <string.h>

enum { SNIFFED_BYTES = 1 << 16 };

/* HLO text has no control characters but blanks; a proto begins with a field's tag and
 * soon has some. */
static bool is_binary(ridge_str text)
{
    const size_t n = text.n < SNIFFED_BYTES ? text.n : SNIFFED_BYTES;
    for (size_t i = 0; i < n; i++) {
        const unsigned char ch = (unsigned char)text.p[i];
        if (ch < ' ' && ch != '\n' && ch != '\t' && ch != '\r' && ch != '\f')
            return true;
    }
    return false;
}

ridge_status ridge_hlo_parse(ridge_ctx *cx, ridge_str text, const char *path,
                             ridge_hlo_file *out)
{
    *out = (ridge_hlo_file){.path = path, .bytes = (double)text.n};
    if (ridge_str_trim(text).n == 0)
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: is empty: HLO text, a proto or "
                          "StableHLO is wanted",
                          path);
    if (is_binary(text))
        return hlo_proto_read(cx, text, path, out);
    return mlir_text_is(text) ? mlir_text_read(cx, text, path, out)
                              : hlo_text_read(cx, text, path, out);
}

ridge_status ridge_hlo_file_read(ridge_ctx *cx, const char *path, ridge_hlo_file *out)
{
    ridge_str text;
    const char *fault = NULL;
    RIDGE_TRY(ridge_file_read_unpacked(cx, path, (size_t)RIDGE_HLO_BYTES_MOST, &fault,
                                       &text));
    const ridge_status st = ridge_hlo_parse(cx, text, path, out);
    if (st != RIDGE_OK && fault)
        ridge_ctx_note(cx, "%s", fault);
    RIDGE_TRY(st);
    out->fault = fault;
    return RIDGE_OK;
}
