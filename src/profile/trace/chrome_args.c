/* Keys by their first letter and their length. */
#include "chrome_args.h"

#include <stddef.h>

typedef struct arg_key {
    const char *text;
    size_t n;
    size_t at; /* of the member */
} arg_key;

#define ARG_KEY(text, member)                                                          \
    {                                                                                  \
        text, sizeof(text) - 1, offsetof(chrome_args, member)                          \
    }

/* In order of their first letters. */
static const arg_key keys[] = {
    ARG_KEY("Collective name", collective),
    ARG_KEY("Concrete Inputs", values),
    ARG_KEY("Fwd thread id", forward_thread),
    ARG_KEY("Group size", ranks),
    ARG_KEY("Input Dims", dims),
    ARG_KEY("Input dims", dims),
    ARG_KEY("Input type", types),
    ARG_KEY("In msg nelems", in_elements),
    ARG_KEY("Out msg nelems", out_elements),
    ARG_KEY("Process Group Name", group),
    ARG_KEY("Sequence number", sequence),
    ARG_KEY("block", scope),
    ARG_KEY("bytes", bytes),
    ARG_KEY("bytes_accessed", bytes),
    ARG_KEY("correlation", correlation),
    ARG_KEY("correlation_id", correlation),
    ARG_KEY("dtype", dtype),
    ARG_KEY("hlo_category", category),
    ARG_KEY("hlo_module", module),
    ARG_KEY("hlo_op", op),
    ARG_KEY("labels", labels),
    ARG_KEY("long_name", long_name),
    ARG_KEY("matmul_flops", flops),
    ARG_KEY("model_flops", flops),
    ARG_KEY("name", name),
    ARG_KEY("source", source),
    ARG_KEY("stage", stage),
    ARG_KEY("tf_op", scope),
};

static scan_value *member_of(chrome_args *a, ridge_str key)
{
    for (size_t i = 0; key.n > 0 && i < RIDGE_COUNT_OF(keys); i++) {
        if (keys[i].text[0] == key.p[0] && keys[i].n == key.n &&
            memcmp(keys[i].text, key.p, key.n) == 0)
            return (scan_value *)(void *)((char *)a + keys[i].at);
        if (keys[i].text[0] > key.p[0])
            break;
    }
    return NULL;
}

scan_result chrome_args_scan(json_scan *s, chrome_args *out)
{
    bool is_end = false;
    scan_value key;
    scan_result r = scan_mark(s, '{');
    while (r == SCAN_OK) {
        scan_value ignored;
        r = scan_key(s, &is_end, &key);
        if (r != SCAN_OK || is_end)
            break;
        scan_value *to = member_of(out, key.raw);
        r = scan_any(s, to == NULL ? &ignored : to);
    }
    return r;
}
