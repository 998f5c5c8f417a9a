/* How fast the JSON reader and writer go over a generated document of some megabytes.
 */
#include "stopwatch.h"

#include "ridge/base.h"

#include <stdio.h>

enum { RECORDS = 20000 };

/** An array of records with a name, a few numbers and a nested list. */
static ridge_json *make_document(ridge_ctx *cx)
{
    ridge_json *array = ridge_json_array(cx);
    for (int i = 0; i < RECORDS; i++) {
        ridge_json *record = ridge_json_push_object(cx, array);
        ridge_json_set_text(record, "name", i % 2 == 0 ? "layers.mlp.up" : "attention");
        ridge_json_set_i64(record, "rank", i);
        ridge_json_set_double(record, "time_s", 1e-6 * i + 0.125);
        ridge_json_set_bool(record, "is_exposed", i % 3 == 0);
        ridge_json *shape = ridge_json_set_array(cx, record, "shape");
        for (int d = 0; d < 3; d++)
            ridge_json_push_i64(shape, 128 * (d + 1));
    }
    return array;
}

static double parse_once(void *payload)
{
    const ridge_str *text = payload;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return -1;
    ridge_node root;
    const ridge_status st = ridge_json_parse(cx, *text, "generated", &root);
    const bool is_whole = st == RIDGE_OK && ridge_json_size(root) == RECORDS;
    ridge_ctx_close(cx);
    return is_whole ? (double)text->n / RIDGE_MB : -1;
}

static double write_once(void *payload)
{
    const ridge_json *document = payload;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return -1;
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    const ridge_status st = ridge_json_write(cx, document, &out);
    const double megabytes = st == RIDGE_OK ? (double)out.n / RIDGE_MB : -1;
    ridge_ctx_close(cx);
    return megabytes;
}

int main(void)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return 1;
    ridge_json *document = make_document(cx);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    int code = 1;
    if (ridge_json_write(cx, document, &b) == RIDGE_OK) {
        ridge_str text = {.p = b.p, .n = b.n};
        const bench reading = {
            .name = "json_parse", .unit = "MB/s", .run = parse_once, .payload = &text};
        const bench writing = {.name = "json_write",
                               .unit = "MB/s",
                               .run = write_once,
                               .payload = document};
        code = bench_report(&reading, NULL);
        code |= bench_report(&writing, NULL);
    } else {
        fprintf(stderr, "bench: %s\n", ridge_ctx_message(cx));
    }
    ridge_ctx_close(cx);
    return code;
}
