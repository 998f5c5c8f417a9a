/* How fast HLO text is read, and studied without a slice: a generated module of loops'
 * bodies, fusions and collectives, with the metadata that dumps have. */
#include "stopwatch.h"

#include "ridge/profile_hlo_study.h"

#include <stdio.h>

enum { LAYERS = 4000 };

/* One layer's computation: some 3.5 kB of text. */
static void put_layer(ridge_buf *b, int k)
{
    const char *shape = "bf16[8,1024,4096]{2,1,0:T(8,128)(2,1)}";
    ridge_buf_printf(b, "%%layer.%d (p.%d: %s) -> %s {\n", k, k, "bf16[8,1024,4096]",
                     "bf16[8,1024,4096]");
    ridge_buf_printf(b, "  %%p.%d = %s parameter(0)\n", k, shape);
    ridge_buf_printf(b, "  %%w.%d = bf16[4096,4096]{1,0} constant({...})\n", k);
    for (int i = 0; i < 12; i++) {
        ridge_buf_printf(b, "  %%v.%d.%d = %s %s(", k, i, shape,
                         i % 3 == 0 ? "tanh" : "negate");
        if (i == 0)
            ridge_buf_printf(b, "%%p.%d", k);
        else
            ridge_buf_printf(b, "%%v.%d.%d", k, i - 1);
        ridge_buf_printf(
            b,
            "), metadata={op_name=\"jit(step)/decoder/layers_%d/mlp/op_%d\" "
            "source_file=\"/src/model/layers.py\" source_line=%d}, "
            "backend_config={\"flag_configs\":[],\"n\":\"%d\"}\n",
            k, i, 100 + i, i);
    }
    ridge_buf_printf(
        b,
        "  %%g.%d = %s all-reduce(%%v.%d.11), replica_groups=[16,8]<=[8,16]"
        "T(1,0), use_global_device_ids=true, channel_id=%d\n",
        k, shape, k, k + 1);
    ridge_buf_printf(
        b,
        "  ROOT %%r.%d = %s dot(%%g.%d, %%w.%d), lhs_contracting_dims={2}, "
        "rhs_contracting_dims={0}\n}\n\n",
        k, shape, k, k);
}

static void make_module(ridge_buf *b)
{
    ridge_buf_puts(b, "HloModule bench, num_partitions=128\n\n");
    for (int k = 0; k < LAYERS; k++)
        put_layer(b, k);
    ridge_buf_puts(b, "ENTRY %main (x: bf16[8,1024,4096]) -> bf16[8,1024,4096] {\n"
                      "  %x.0 = bf16[8,1024,4096]{2,1,0} parameter(0)\n");
    for (int k = 0; k < LAYERS; k++)
        ridge_buf_printf(b,
                         "  %%x.%d = bf16[8,1024,4096]{2,1,0} call(%%x.%d), "
                         "to_apply=%%layer.%d\n",
                         k + 1, k, k);
    ridge_buf_puts(b, "}\n");
}

static double read_once(void *payload)
{
    const ridge_str *text = payload;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_hlo_file file;
    if (cx == NULL)
        return -1;
    const ridge_status st = ridge_hlo_parse(cx, *text, "generated", &file);
    ridge_ctx_close(cx);
    return st == RIDGE_OK ? (double)text->n / RIDGE_MB : -1;
}

static double study_once(void *payload)
{
    const ridge_str *text = payload;
    const ridge_hlo_request request = {.slice = NULL};
    ridge_ctx *cx = ridge_ctx_open();
    ridge_hlo_file file;
    ridge_hlo_study study;
    if (cx == NULL)
        return -1;
    ridge_status st = ridge_hlo_parse(cx, *text, "generated", &file);
    if (st == RIDGE_OK)
        st = ridge_hlo_study_find(cx, &file.modules[0], &request, &study);
    ridge_ctx_close(cx);
    return st == RIDGE_OK ? (double)text->n / RIDGE_MB : -1;
}

int main(void)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return 1;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    make_module(&b);
    ridge_str text = {b.p, b.n};
    const bench reading = {
        .name = "hlo_parse", .unit = "MB/s", .run = read_once, .payload = &text};
    const bench studying = {
        .name = "hlo_study", .unit = "MB/s", .run = study_once, .payload = &text};
    int code = b.is_short ? 1 : bench_report(&reading, NULL);
    code |= bench_report(&studying, NULL);
    ridge_ctx_close(cx);
    return code;
}
