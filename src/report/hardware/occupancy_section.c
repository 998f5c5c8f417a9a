/* What a kernel keeps resident on the cores of chips, side by side. */
#include "occupancy_section.h"

#include <math.h>

typedef const char *row_fn(ridge_ctx *cx, const ridge_chip *chip,
                           const ridge_occupancy *o);

static const char *whole(ridge_ctx *cx, int64_t n)
{
    if (n == INT64_MAX)
        return "any";
    return ridge_sprintf(ridge_ctx_arena(cx), "%s", ridge_format_exact(n).s);
}

static const char *row_warps(ridge_ctx *cx, const ridge_chip *chip,
                             const ridge_occupancy *o)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%lld of %d threads",
                         (long long)o->block_warps, chip->warp_threads);
}

static const char *row_registers(ridge_ctx *cx, const ridge_chip *chip,
                                 const ridge_occupancy *o)
{
    const double bytes =
        (double)(o->register_bytes * chip->warp_threads * o->block_warps);
    return o->register_bytes > 0
               ? ridge_sprintf(ridge_ctx_arena(cx), "%s of %s",
                               ridge_format_bytes(bytes).s,
                               ridge_format_bytes(chip->register_bytes / chip->cores).s)
               : NULL;
}

static const char *row_shared(ridge_ctx *cx, const ridge_chip *chip,
                              const ridge_occupancy *o)
{
    return o->block_shared_bytes > 0
               ? ridge_sprintf(ridge_ctx_arena(cx), "%s of %s",
                               ridge_format_bytes(o->block_shared_bytes).s,
                               ridge_format_bytes(chip->core_shared_bytes).s)
               : NULL;
}

#define LIMIT_ROW(name, key, what)                                                     \
    static const char *row_by_##name(ridge_ctx *cx, const ridge_chip *chip,            \
                                     const ridge_occupancy *o)                         \
    {                                                                                  \
        (void)chip;                                                                    \
        return whole(cx, o->blocks_by[RIDGE_OCCUPANCY_LIMIT_##name]);                  \
    }
RIDGE_OCCUPANCY_LIMIT_LIST(LIMIT_ROW)
#undef LIMIT_ROW

static const char *row_blocks(ridge_ctx *cx, const ridge_chip *chip,
                              const ridge_occupancy *o)
{
    (void)chip;
    return whole(cx, o->blocks);
}

static const char *row_resident(ridge_ctx *cx, const ridge_chip *chip,
                                const ridge_occupancy *o)
{
    return ridge_sprintf(ridge_ctx_arena(cx), "%lld of %d", (long long)o->warps,
                         chip->core_warps);
}

static const char *row_share(ridge_ctx *cx, const ridge_chip *chip,
                             const ridge_occupancy *o)
{
    (void)chip;
    return ridge_sprintf(ridge_ctx_arena(cx), "%s", ridge_format_percent(o->share).s);
}

/* All that hold no more than the least. */
static const char *row_bound(ridge_ctx *cx, const ridge_chip *chip,
                             const ridge_occupancy *o)
{
    (void)chip;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < RIDGE_OCCUPANCY_LIMIT_COUNT; i++) {
        if (o->blocks_by[i] == o->blocks)
            ridge_buf_printf(&b, "%s%s", b.n > 0 ? ", " : "",
                             ridge_occupancy_limit_what((ridge_occupancy_limit)i));
    }
    return ridge_buf_text(&b);
}

static const char *row_threads(ridge_ctx *cx, const ridge_chip *chip,
                               const ridge_occupancy *o)
{
    (void)chip;
    return whole(cx, (int64_t)o->chip_threads);
}

static const char *row_next(ridge_ctx *cx, const ridge_chip *chip,
                            const ridge_occupancy *o)
{
    (void)chip;
    if (o->next_registers > 0)
        return ridge_sprintf(ridge_ctx_arena(cx), "%lld registers a thread",
                             (long long)o->next_registers);
    if (o->next_shared_bytes >= 0)
        return ridge_sprintf(ridge_ctx_arena(cx), "%s of shared memory",
                             ridge_format_bytes(o->next_shared_bytes).s);
    return NULL;
}

static const struct {
    const char *name;
    row_fn *text;
} rows[] = {
    {"warps (wavefronts) of a block", row_warps},
    {"registers of a block", row_registers},
    {"shared memory of a block", row_shared},
#define LIMIT_ROW(name, key, what) {"blocks by " what, row_by_##name},
    RIDGE_OCCUPANCY_LIMIT_LIST(LIMIT_ROW)
#undef LIMIT_ROW
        {"resident blocks of a core", row_blocks},
    {"resident warps of a core", row_resident},
    {"occupancy", row_share},
    {"bound by", row_bound},
    {"resident threads of the chip", row_threads},
    {"one block more with at most", row_next},
};

static const char *title_of(ridge_ctx *cx, const ridge_kernel *k)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b, "A kernel of %lld threads a block", (long long)k->threads);
    if (k->registers > 0)
        ridge_buf_printf(&b, ", %lld registers a thread", (long long)k->registers);
    if (k->shared_bytes > 0)
        ridge_buf_printf(&b, ", %s of shared memory a block",
                         ridge_format_bytes(k->shared_bytes).s);
    return ridge_buf_text(&b);
}

static void add_row(ridge_ctx *cx, const ridge_chip *const *chips,
                    const ridge_occupancy *o, size_t n, size_t row, ridge_table *t)
{
    bool is_known = false;
    for (size_t i = 0; i < n; i++)
        is_known = is_known || rows[row].text(cx, chips[i], &o[i]) != NULL;
    if (!is_known)
        return;
    ridge_table_cell(t, rows[row].name);
    for (size_t i = 0; i < n; i++) {
        const char *text = rows[row].text(cx, chips[i], &o[i]);
        ridge_table_cell(t, text == NULL ? "-" : text);
    }
}

void ridge__occupancies_add(ridge_ctx *cx, const ridge_chip *const *chips,
                            const ridge_occupancy *occupancies, size_t n,
                            ridge_sections *out)
{
    ridge_buf columns;
    ridge_buf_init(&columns, ridge_ctx_arena(cx));
    for (size_t i = 0; i < n; i++)
        ridge_buf_printf(&columns, "|%s", chips[i]->name);
    ridge_table *t = ridge__section_add(cx, out, title_of(cx, &occupancies[0].kernel),
                                        ridge_buf_text(&columns));
    for (size_t r = 0; r < RIDGE_COUNT_OF(rows); r++)
        add_row(cx, chips, occupancies, n, r, t);
    ridge__section_note(out, "Registers and shared memory are given in granules; a "
                             "core's registers lie in four parts. Warps that are "
                             "resident hide latencies; the roofline does not depend "
                             "on them.");
}

static void set_count(ridge_json *o, const char *key, int64_t n)
{
    ridge_json_set_double(o, key, n == INT64_MAX ? nan("") : (double)n);
}

void ridge__occupancy_set(ridge_ctx *cx, const ridge_occupancy *o, ridge_json *chip)
{
    ridge_json *all = ridge_json_set_object(cx, chip, "occupancy");
    ridge_json_set_i64(all, "threads", o->kernel.threads);
    ridge_json_set_i64(all, "registers", o->kernel.registers);
    ridge_json_set_double(all, "shared_bytes", o->kernel.shared_bytes);
    ridge_json_set_i64(all, "block_warps", o->block_warps);
    ridge_json *by = ridge_json_set_object(cx, all, "blocks_by");
    for (int i = 0; i < RIDGE_OCCUPANCY_LIMIT_COUNT; i++)
        set_count(by, ridge_occupancy_limit_key((ridge_occupancy_limit)i),
                  o->blocks_by[i]);
    ridge_json_set_i64(all, "blocks", o->blocks);
    ridge_json_set_i64(all, "warps", o->warps);
    ridge_json_set_double(all, "share", o->share);
    ridge_json_set_double(all, "chip_threads", o->chip_threads);
    ridge_json_set_positive(all, "next_registers", (double)o->next_registers);
    ridge_json_set_double(all, "next_shared_bytes",
                          o->next_shared_bytes >= 0 ? o->next_shared_bytes : nan(""));
}
