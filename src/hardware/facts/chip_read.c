/*
 * One file of data/chips into a ridge_chip.
 *
 * Members: name, full_name, vendor, kind (gpu, tpu, accelerator, cpu), year,
 * default_system; aliases (optional array); base (optional: another chip, whose members
 * hold unless given again; peak_flops_per_s, achievable and achievable.matmul are
 * merged member by member, aliases are not inherited; a null takes an inherited number
 * away); peak_flops_per_s {format: fact}, at least one of 16 bits or more; the numbers
 * of NUMBER_LIST, each a fact; achievable {matmul {format: fact}, attention, memory,
 * launch_s}; measured (optional, see measured_read.c). An unknown member is an error,
 * so that a misspelt one is not lost.
 */
#include "chip_read.h"

#include <string.h>

#include "fact_read.h"
#include "measured_read.h"

/* Taken where a file says nothing. A format without its own matmul share has that of
 * bf16, else of fp16.
 * @source achievable-defaults */
static const ridge_achievable achievable_defaults = {
    .attention = 0.5, .memory = 0.85, .launch_s = 4e-6};
static const double matmul_default = 0.75;

/* member, C type, least, most, whether a chip must have it */
/* clang-format off */
#define NUMBER_LIST(X)                              \
    X(vector_flops_per_s,    REAL,  1e6, 1e17, true)  \
    X(hbm_bytes,             REAL,  1e6, 1e15, true)  \
    X(visible_bytes,         REAL,  1e6, 1e15, false) \
    X(hbm_bytes_per_s,       REAL,  1e6, 1e16, true)  \
    X(fast_bytes,            REAL,  1,   1e13, false) \
    X(fast_bytes_per_s,      REAL,  1e6, 1e18, false) \
    X(l2_bytes,              REAL,  1,   1e13, false) \
    X(l2_bytes_per_s,        REAL,  1e6, 1e18, false) \
    X(register_bytes,        REAL,  1,   1e13, false) \
    X(cores,                 WHOLE, 1,   1e6,  false) \
    X(devices,               WHOLE, 1,   64,   false) \
    X(matmul_units,          WHOLE, 1,   1e6,  false) \
    X(matmul_rows,           WHOLE, 1,   1e5,  false) \
    X(matmul_cols,           WHOLE, 1,   1e5,  false) \
    X(tile_m,                WHOLE, 1,   1e5,  false) \
    X(tile_n,                WHOLE, 1,   1e5,  false) \
    X(lane_count,            WHOLE, 1,   1e6,  false) \
    X(sublane_count,         WHOLE, 1,   1e6,  false) \
    X(warp_threads,          WHOLE, 1,   1024, false) \
    X(core_warps,            WHOLE, 1,   1024, false) \
    X(core_blocks,           WHOLE, 1,   1024, false) \
    X(core_barriers,         WHOLE, 1,   1024, false) \
    X(core_shared_bytes,     REAL,  1,   1e9,  false) \
    X(block_reserved_bytes,  REAL,  1,   1e6,  false) \
    X(shared_granule_bytes,  WHOLE, 1,   1e6,  false) \
    X(thread_registers,      WHOLE, 1,   1e5,  false) \
    X(thread_register_granule, WHOLE, 1, 1e3,  false) \
    X(clock_hz,              REAL,  1e6, 1e11, false) \
    X(boost_clock_hz,        REAL,  1e6, 1e11, false) \
    X(power_watts,           REAL,  0.1, 1e6,  false) \
    X(idle_power_share,      REAL,  0.001, 1,  false) \
    X(busy_power_share,      REAL,  0.001, 1,  false) \
    X(memory_power_share,    REAL,  0.001, 1,  false) \
    X(flops_power_share,     REAL,  0.001, 10, false) \
    X(pcie_bytes_per_s,      REAL,  1e6, 1e14, false) \
    X(host_link_bytes_per_s, REAL,  1e6, 1e14, false)
/* clang-format on */

typedef enum number_type { NUMBER_REAL, NUMBER_WHOLE } number_type;

typedef struct number_row {
    fact_spec spec;
    size_t offset; /* in ridge_chip */
    number_type type;
    bool is_required;
} number_row;

static const number_row numbers[] = {
#define NUMBER_ROW(name, type, low, high, is_required)                                 \
    {{#name, low, high}, offsetof(ridge_chip, name), NUMBER_##type, is_required},
    NUMBER_LIST(NUMBER_ROW)
#undef NUMBER_ROW
};

static const char *const members[] = {"name",
                                      "full_name",
                                      "vendor",
                                      "kind",
                                      "aliases",
                                      "year",
                                      "base",
                                      "default_system",
                                      "peak_flops_per_s",
                                      "achievable",
                                      "measured",
#define NUMBER_KEY(name, type, low, high, is_required) #name,
                                      NUMBER_LIST(NUMBER_KEY)
#undef NUMBER_KEY
};

static const char *const dtype_texts[] = {
#define DTYPE_TEXT(name, text, bits) text,
    RIDGE_DTYPE_LIST(DTYPE_TEXT)
#undef DTYPE_TEXT
};

static const char *const kind_texts[] = {"tpu", "gpu", "accelerator", "cpu"};

/* member of achievable beside matmul, least, most */
/* clang-format off */
#define SHARE_LIST(X)                  \
    X(attention,          0.01, 1.0)   \
    X(memory,             0.01, 1.0)   \
    X(decode,             0.01, 1.0)   \
    X(launch_s,           0.0,  1.0)   \
    X(stream_start_s,     0.0,  1.0)   \
    X(fp4_sm_bytes_per_s, 1e6,  1e15)  \
    X(quantise_tensor_s,  0.0,  1.0)   \
    X(quantise_row_s,     0.0,  1.0)   \
    X(quantise_block_s,   0.0,  1.0)   \
    X(prefill_call_s,     0.0,  1.0)   \
    X(prefill_block_s,    0.0,  1.0)   \
    X(decode_call_s,      0.0,  1.0)   \
    X(decode_block_s,     0.0,  1.0)   \
    X(loaded,             0.01, 1.0)
/* clang-format on */

typedef struct share_row {
    const char *member;
    fact_spec spec;
    size_t offset; /* in ridge_achievable */
} share_row;

static const share_row shares[] = {
#define SHARE_ROW(name, low, high)                                                     \
    {#name, {"achievable." #name, low, high}, offsetof(ridge_achievable, name)},
    SHARE_LIST(SHARE_ROW)
#undef SHARE_ROW
};

static const char *const achievable_members[] = {"matmul",
#define SHARE_KEY(name, low, high) #name,
                                                 SHARE_LIST(SHARE_KEY)
#undef SHARE_KEY
};

static const fact_spec peak_spec = {"peak_flops_per_s", 1e6, 1e18};
static const fact_spec matmul_spec = {"achievable.matmul", 0.01, 1.0};

enum {
    FACT_ROOM = RIDGE_COUNT_OF(numbers) + (size_t)2 * RIDGE_DTYPE_COUNT +
                RIDGE_COUNT_OF(achievable_members)
};

/* A chip under construction. */
typedef struct chip_reader {
    ridge_ctx *cx;
    ridge_chip *chip;
    fact_list facts;
} chip_reader;

/* A whole number was checked to fit an int; others need not. */
static void set_number(ridge_chip *chip, const number_row *row, double v)
{
    char *at = (char *)chip + row->offset;
    if (row->type == NUMBER_WHOLE) {
        const int whole = (int)v;
        memcpy(at, &whole, sizeof whole);
    } else {
        memcpy(at, &v, sizeof v);
    }
}

static ridge_status read_number(chip_reader *r, const ridge_node *root,
                                const number_row *row)
{
    const ridge_node node = ridge_json_get(root, row->spec.key);
    double v = 0.0;
    if (ridge_json_is_absent(node)) {
        ridge__facts_drop(&r->facts, row->spec.key);
    } else {
        RIDGE_TRY(ridge__fact_read(r->cx, node, &row->spec, &r->facts, &v));
        if (row->type == NUMBER_WHOLE && v != (double)(int)v)
            return ridge_json_fail(r->cx, node, "a whole number is wanted");
    }
    set_number(r->chip, row, v);
    return RIDGE_OK;
}

/* {format: fact} into v[format]; formats that are not named keep what they have. */
static ridge_status read_by_dtype(chip_reader *r, ridge_node node,
                                  const fact_spec *spec, double v[RIDGE_DTYPE_COUNT])
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(r->cx, node, "an object of number formats is wanted");
    RIDGE_TRY(ridge_json_only(r->cx, node, dtype_texts, RIDGE_DTYPE_COUNT));
    for (size_t i = 0; i < ridge_json_size(node); i++) {
        const ridge_node item = ridge_json_member(&node, i);
        ridge_dtype dtype = RIDGE_DTYPE_BF16;
        RIDGE_TRY(ridge_dtype_parse(r->cx, item.key, &dtype));
        const char *key =
            ridge_sprintf(ridge_ctx_arena(r->cx), "%s.%s", spec->key, item.key);
        if (key == NULL)
            return ridge_fail_nomem(r->cx);
        const fact_spec one = {key, spec->low, spec->high};
        v[dtype] = 0.0;
        if (ridge_json_is_absent(item)) {
            ridge__facts_drop(&r->facts, key);
        } else {
            RIDGE_TRY(ridge__fact_read(r->cx, item, &one, &r->facts, &v[dtype]));
        }
    }
    return RIDGE_OK;
}

static ridge_status read_peaks(chip_reader *r, ridge_node node)
{
    ridge_chip *chip = r->chip;
    RIDGE_TRY(read_by_dtype(r, node, &peak_spec, chip->peak_flops_per_s));
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++)
        chip->has_peak[i] = chip->peak_flops_per_s[i] > 0.0;
    return RIDGE_OK;
}

/* An absent member keeps what the chip has. */
static ridge_status read_share(chip_reader *r, const ridge_node *parent,
                               const share_row *row)
{
    double v = 0.0;
    const ridge_node node = ridge_json_get(parent, row->member);
    if (ridge_json_is_absent(node))
        return RIDGE_OK;
    RIDGE_TRY(ridge__fact_read(r->cx, node, &row->spec, &r->facts, &v));
    memcpy((char *)&r->chip->achievable + row->offset, &v, sizeof v);
    return RIDGE_OK;
}

static ridge_status read_achievable(chip_reader *r, ridge_node node)
{
    ridge_achievable *a = &r->chip->achievable;
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(r->cx, node, "an object is wanted");
    RIDGE_TRY(ridge_json_only(r->cx, node, achievable_members,
                              RIDGE_COUNT_OF(achievable_members)));
    const ridge_node matmul = ridge_json_get(&node, "matmul");
    if (!ridge_json_is_absent(matmul))
        RIDGE_TRY(read_by_dtype(r, matmul, &matmul_spec, a->matmul));
    for (size_t i = 0; i < RIDGE_COUNT_OF(shares); i++)
        RIDGE_TRY(read_share(r, &node, &shares[i]));
    return RIDGE_OK;
}

static bool has_matmul_share(const chip_reader *r, ridge_dtype dtype)
{
    char key[64];
    snprintf(key, sizeof key, "achievable.matmul.%s", ridge_dtype_text(dtype));
    return ridge__facts_has(&r->facts, key);
}

/* Runs over inherited fillings too: a variant with another bf16 share fills anew. */
static void fill_matmul_shares(const chip_reader *r)
{
    double *share = r->chip->achievable.matmul;
    double filling = matmul_default;
    if (has_matmul_share(r, RIDGE_DTYPE_BF16)) {
        filling = share[RIDGE_DTYPE_BF16];
    } else if (has_matmul_share(r, RIDGE_DTYPE_FP16)) {
        filling = share[RIDGE_DTYPE_FP16];
    }
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        if (!has_matmul_share(r, (ridge_dtype)i))
            share[i] = filling;
    }
}

static ridge_status read_texts(chip_reader *r, const ridge_node *root,
                               const ridge_chip *base)
{
    ridge_chip *chip = r->chip;
    RIDGE_TRY(ridge__name_read(r->cx, ridge_json_get(root, "name"), &chip->name));
    RIDGE_TRY(ridge__text_read(r->cx, root, "full_name", base ? base->full_name : NULL,
                               &chip->full_name));
    RIDGE_TRY(ridge__text_read(r->cx, root, "vendor", base ? base->vendor : NULL,
                               &chip->vendor));
    RIDGE_TRY(ridge__text_read(r->cx, root, "default_system",
                               base ? base->default_system : NULL,
                               &chip->default_system));
    RIDGE_TRY(
        ridge__aliases_read(r->cx, ridge_json_get(root, "aliases"), &chip->aliases));
    const ridge_node kind = ridge_json_get(root, "kind");
    if (base == NULL || !ridge_json_is_absent(kind)) {
        size_t choice = 0;
        RIDGE_TRY(ridge__choice_read(r->cx, kind, kind_texts,
                                     RIDGE_COUNT_OF(kind_texts), &choice));
        chip->kind = (ridge_chip_kind)choice;
    }
    const ridge_node year = ridge_json_get(root, "year");
    if (base == NULL || !ridge_json_is_absent(year)) {
        int64_t v = 0;
        RIDGE_TRY(ridge_json_want_i64(r->cx, year, 1940, 2100, &v));
        chip->year = (int)v;
    }
    return RIDGE_OK;
}

static ridge_status check_complete(const chip_reader *r, ridge_node root)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(numbers); i++) {
        if (numbers[i].is_required && !ridge__facts_has(&r->facts, numbers[i].spec.key))
            return ridge_json_fail(r->cx, root, "no \"%s\"", numbers[i].spec.key);
    }
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        if (r->chip->has_peak[i] && ridge_dtype_bytes((ridge_dtype)i) >= 2.0)
            return RIDGE_OK;
    }
    return ridge_json_fail(r->cx, root,
                           "no peak_flops_per_s of a format of 16 bits or more");
}

/* Members in file order, so that the facts are listed as the file has them. */
static ridge_status read_members(chip_reader *r, ridge_node root)
{
    for (size_t i = 0; i < ridge_json_size(root); i++) {
        const ridge_node node = ridge_json_member(&root, i);
        if (strcmp(node.key, "peak_flops_per_s") == 0) {
            RIDGE_TRY(read_peaks(r, node));
        } else if (strcmp(node.key, "achievable") == 0) {
            RIDGE_TRY(read_achievable(r, node));
        } else if (strcmp(node.key, "measured") == 0) {
            RIDGE_TRY(ridge__measured_chip_read(r->cx, node, &r->chip->measured));
        }
        for (size_t k = 0; k < RIDGE_COUNT_OF(numbers); k++) {
            if (strcmp(node.key, numbers[k].spec.key) == 0)
                RIDGE_TRY(read_number(r, &root, &numbers[k]));
        }
    }
    return RIDGE_OK;
}

static ridge_status keep_as_measured(chip_reader *r, const ridge_chip *base)
{
    if (r->chip->measured == NULL ||
        (base != NULL && r->chip->measured == base->measured))
        return RIDGE_OK;
    ridge_chip *kept = ridge_new(ridge_ctx_arena(r->cx), ridge_chip, 1);
    if (kept == NULL)
        return ridge_fail_nomem(r->cx);
    *kept = *r->chip;
    r->chip->as_measured = kept;
    return RIDGE_OK;
}

ridge_status ridge__chip_read(ridge_ctx *cx, ridge_node root, const ridge_chip *base,
                              ridge_chip **out)
{
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a chip is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    chip_reader r = {.cx = cx, .chip = ridge_new(ridge_ctx_arena(cx), ridge_chip, 1)};
    if (r.chip == NULL)
        return ridge_fail_nomem(cx);
    r.chip->achievable = achievable_defaults;
    if (base != NULL)
        *r.chip = *base;
    r.chip->n_prices = 0;
    RIDGE_TRY(ridge__facts_open(cx, base ? base->facts : NULL, base ? base->n_facts : 0,
                                FACT_ROOM, &r.facts));
    RIDGE_TRY(read_texts(&r, &root, base));
    RIDGE_TRY(read_members(&r, root));
    RIDGE_TRY(check_complete(&r, root));
    fill_matmul_shares(&r);
    RIDGE_TRY(keep_as_measured(&r, base));
    r.chip->facts = r.facts.items;
    r.chip->n_facts = r.facts.n;
    *out = r.chip;
    return RIDGE_OK;
}
