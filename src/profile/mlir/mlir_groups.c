/* Groups of devices and shardings as StableHLO writes them. */
#include "hlo_attribute.h"
#include "mlir_attribute.h"

#include <string.h>

/* ---- groups -----------------------------------------------------------------------
 */

enum { DEVICES_MOST = 1 << 20 };

static int hex_of(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    const char low = (char)(ch | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* "0x0000000000000000 0100..": 64-bit numbers, low bytes first. */
static int numbers_of_blob(ridge_str text, int64_t *out, int most)
{
    int n = 0;
    for (size_t at = 2; at + 16 <= text.n && n < most; at += 16) {
        uint64_t x = 0;
        for (int k = 0; k < 8; k++) {
            const int high = hex_of(text.p[at + 2 * (size_t)k]);
            const int low = hex_of(text.p[at + 2 * (size_t)k + 1]);
            if (high < 0 || low < 0)
                return n;
            x |= (uint64_t)(high * 16 + low) << 8 * k;
        }
        out[n++] = (int64_t)x;
    }
    return n;
}

/* "<mesh_name = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>" as HLO says it:
 * mesh['x'=2,'y'=4] {'x'}. */
static ridge_status put_axes(mlir_function *f, ridge_str text, hlo_list *list)
{
    text_cursor c = text_cursor_within(f->c, text);
    ridge_str sizes = {NULL, 0}, name;
    ridge_buf b;
    while (c.p < c.end && *c.p != '@')
        c.p++;
    c.p += c.p < c.end;
    const ridge_str mesh = text_cursor_word(&c);
    for (int k = 0; f->meshes && k < f->meshes->n; k++) {
        const ridge_hlo_attribute *a =
            (const ridge_hlo_attribute *)(const void *)f->meshes->items + k;
        if (a->key.n == mesh.n + 5 && memcmp(a->key.p + 5, mesh.p, mesh.n) == 0)
            sizes = a->text;
    }
    ridge_buf_init(&b, f->b->arena);
    ridge_buf_puts(&b, "mesh");
    for (size_t k = 0; k < sizes.n; k++)
        ridge_buf_add(&b, sizes.p[k] == '"' ? ridge_str_of("'")
                                            : (ridge_str){sizes.p + k, 1});
    const char *comma = " {";
    while (sizes.p && c.p < c.end) {
        if (*c.p != '"' || !text_cursor_quoted(&c, &name)) {
            c.p++;
            continue;
        }
        ridge_buf_printf(&b, "%s'%.*s'", comma, (int)name.n, name.p);
        comma = ",";
    }
    if (sizes.p == NULL || comma[0] == ' ')
        return RIDGE_OK;
    ridge_buf_puts(&b, "}");
    return mlir_attribute_put(f, list, "replica_groups", ridge_buf_text(&b));
}

/* dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, dense<0>, dense<"0x..">: rows of devices.
 */
static ridge_status put_groups(mlir_function *f, ridge_str text, const char *key,
                               hlo_list *list)
{
    const char *p = mlir_key_find(text, key), *stop = text.p + text.n;
    if (p == NULL)
        return RIDGE_OK;
    text_cursor c = text_cursor_within(f->c, (ridge_str){p, (size_t)(stop - p)});
    if (!text_cursor_take(&c, "dense<"))
        return RIDGE_OK;
    const char *from = c.p;
    while (c.p < c.end && *c.p != '>')
        c.p++;
    const ridge_str body = ridge_str_trim((ridge_str){from, (size_t)(c.p - from)});
    ridge_hlo_shape shape = {.n = 0};
    c.p += c.p < c.end;
    if (!text_cursor_take(&c, ":"))
        return RIDGE_OK;
    RIDGE_TRY(mlir_type_read(&c, &shape));
    int64_t rows_count = shape.n == 2 ? shape.dims[0] : 1, all = 0;
    int64_t size = shape.n > 0 ? shape.dims[shape.n - 1] : 0;
    if (!ridge_mul_i64(rows_count, size, &all) || all > DEVICES_MOST)
        return text_cursor_fail(&c, "there are too many devices in groups");
    int64_t *x = ridge_new(f->b->scratch, int64_t, (size_t)all + 1);
    if (x == NULL)
        return ridge_fail_nomem(f->b->cx);
    const ridge_str inner = {body.p + 1, body.n > 2 ? body.n - 2 : 0};
    const int n = body.n > 0 && body.p[0] == '"' ? numbers_of_blob(inner, x, (int)all)
                                                 : mlir_numbers_of(body, x, (int)all);
    ridge_buf b;
    ridge_buf_init(&b, f->b->arena);
    ridge_buf_puts(&b, "{");
    for (int64_t k = 0; n == all && k < all; k++) {
        const char *open = k == 0 ? "{" : k % size == 0 ? "},{" : ",";
        if (x[k] >= 0) /* -1 fills up shorter groups */
            ridge_buf_printf(&b, "%s%lld", open, (long long)x[k]);
    }
    ridge_buf_puts(&b, n == all && all > 0 ? "}}" : "}");
    return mlir_attribute_put(f, list, key, ridge_buf_text(&b));
}

ridge_status mlir_groups_put(mlir_function *f, ridge_str text, hlo_list *list)
{
    int64_t channel;
    const char *axes = mlir_key_find(text, "replica_groups");
    const ridge_str named = {axes, axes ? (size_t)(text.p + text.n - axes) : 0};
    const ridge_str near = {named.p, named.n < 64 ? named.n : 64};
    if (axes && hlo_text_has(near, "replica_group_mesh_axes"))
        RIDGE_TRY(put_axes(f, named, list));
    RIDGE_TRY(put_groups(f, text, "replica_groups", list));
    RIDGE_TRY(put_groups(f, text, "source_target_pairs", list));
    const char *p = mlir_key_find(text, "channel_handle");
    if (p && mlir_number_of((ridge_str){p, (size_t)(text.p + text.n - p)}, "handle",
                            &channel))
        RIDGE_TRY(
            mlir_attribute_put(f, list, "channel_id",
                               ridge_sprintf(f->b->arena, "%lld", (long long)channel)));
    return hlo_text_has(text, "use_global_device_ids")
               ? mlir_attribute_put(f, list, "use_global_device_ids", "true")
               : RIDGE_OK;
}

/* ---- shardings --------------------------------------------------------------------
 */

/* sdy.sharding = #sdy.sharding<..>, mhlo.sharding = "{..}" */
ridge_status mlir_shardings_put(mlir_function *f, ridge_str text, hlo_list *list)
{
    static const char *const keys[][2] = {{"sdy.sharding", "sdy.sharding"},
                                          {"mhlo.sharding", "sharding"}};
    for (size_t k = 0; k < RIDGE_COUNT_OF(keys); k++) {
        const char *p = mlir_key_find(text, keys[k][0]);
        if (p == NULL)
            continue;
        text_cursor c = text_cursor_within(f->c, text);
        c.p = p;
        const ridge_str value = mlir_attribute_read(&c);
        RIDGE_TRY(
            mlir_attribute_put(f, list, keys[k][1], ridge_str_dup(f->b->arena, value)));
    }
    return RIDGE_OK;
}
