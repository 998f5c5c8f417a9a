/* Blocks of a kernel that a core of a GPU holds. */
#include "ridge/hardware_occupancy.h"

#include <math.h>

/* Parts of a core's register file, each beside a scheduler (a SIMD). */
enum { PARTITIONS = 4, REGISTER_BYTES = 4 };

const char *ridge_occupancy_limit_key(ridge_occupancy_limit limit)
{
#define LIMIT_KEY(name, key, what) key,
    static const char *const keys[] = {RIDGE_OCCUPANCY_LIMIT_LIST(LIMIT_KEY)};
#undef LIMIT_KEY
    return keys[limit];
}

const char *ridge_occupancy_limit_what(ridge_occupancy_limit limit)
{
#define LIMIT_WHAT(name, key, what) what,
    static const char *const texts[] = {RIDGE_OCCUPANCY_LIMIT_LIST(LIMIT_WHAT)};
#undef LIMIT_WHAT
    return texts[limit];
}

/* ---- a kernel from text ---------------------------------------------------------- */

static ridge_status read_whole(ridge_ctx *cx, ridge_str key, ridge_str value,
                               int64_t least, int64_t most, int64_t *out)
{
    if (ridge_parse_i64(value, out) && *out >= least && *out <= most)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG, "%.*s=%.*s: a whole number from %lld to %lld",
                      (int)key.n, key.p, (int)value.n, value.p, (long long)least,
                      (long long)most);
}

static ridge_status read_item(ridge_ctx *cx, ridge_str key, ridge_str value,
                              ridge_kernel *k)
{
    enum { REGISTERS_MOST = 65536 };
    if (value.p == NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.*s' says no number: write threads=256,registers=64,"
                          "shared=48KiB",
                          (int)key.n, key.p);
    if (ridge_str_is(key, "threads"))
        return read_whole(cx, key, value, 1, RIDGE_BLOCK_THREADS_MOST, &k->threads);
    if (ridge_str_is(key, "registers"))
        return read_whole(cx, key, value, 0, REGISTERS_MOST, &k->registers);
    if (!ridge_str_is(key, "shared"))
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "'%.*s': a kernel has threads=, registers= and shared=", (int)key.n, key.p);
    if (ridge_parse_bytes(value, &k->shared_bytes))
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG, "shared=%.*s: bytes of a block, as in 48KiB",
                      (int)value.n, value.p);
}

ridge_status ridge_kernel_parse(ridge_ctx *cx, const char *text, ridge_kernel *out)
{
    ridge_kernel k = {.threads = RIDGE_KERNEL_THREADS_USUAL};
    ridge_str rest = ridge_str_of(text);
    ridge_str seen[3];
    size_t n = 0;
    while (rest.p != NULL) {
        ridge_str value = ridge_str_trim(ridge_str_cut(&rest, ','));
        const ridge_str key = ridge_str_trim(ridge_str_cut(&value, '='));
        RIDGE_TRY(read_item(cx, key, ridge_str_trim(value), &k));
        for (size_t i = 0; i < n; i++) {
            if (ridge_str_equal(seen[i], key))
                return ridge_fail(cx, RIDGE_E_ARG, "%.*s= stands twice: give it once",
                                  (int)key.n, key.p);
        }
        seen[n++] = key;
    }
    *out = k;
    return RIDGE_OK;
}

/* ---- what fits ------------------------------------------------------------------- */

bool ridge_chip_has_occupancy(const ridge_chip *chip)
{
    return chip->core_warps > 0 && chip->warp_threads > 0 && chip->cores > 0 &&
           chip->register_bytes > 0 && chip->core_shared_bytes > 0 &&
           chip->thread_registers > 0 && chip->thread_register_granule > 0 &&
           chip->shared_granule_bytes > 0;
}

static int64_t round_up(int64_t v, int64_t granule)
{
    return ridge_ceil_div(v, granule) * granule;
}

/* What a block may have for itself, the system's part taken off. */
static double block_shared_most(const ridge_chip *chip)
{
    return chip->core_shared_bytes - chip->block_reserved_bytes;
}

static ridge_status check(ridge_ctx *cx, const ridge_chip *chip, const ridge_kernel *k)
{
    if (!ridge_chip_has_occupancy(chip))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "what a core of %s holds of kernels is not known: name a GPU "
                          "whose `ridge chips` has core_warps among its sources",
                          chip->name);
    if (k->threads < 1 || k->threads > RIDGE_BLOCK_THREADS_MOST)
        return ridge_fail(cx, RIDGE_E_ARG, "a block has 1 to %d threads",
                          RIDGE_BLOCK_THREADS_MOST);
    const int64_t most =
        round_up(chip->thread_registers, chip->thread_register_granule);
    if (k->registers < 0 || k->registers > most)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%lld registers: a thread of %s has at most %d",
                          (long long)k->registers, chip->name, chip->thread_registers);
    if (!(k->shared_bytes >= 0) || k->shared_bytes > block_shared_most(chip))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s of shared memory: a block of %s has at most %s",
                          ridge_format_bytes(k->shared_bytes).s, chip->name,
                          ridge_format_bytes(block_shared_most(chip)).s);
    return RIDGE_OK;
}

/* Warps that one part of the file holds; 0 registers: any number. */
static int64_t partition_warps(const ridge_chip *chip, int64_t registers)
{
    const double core = chip->register_bytes / chip->cores / REGISTER_BYTES;
    const int64_t part = (int64_t)(core / PARTITIONS + 0.5);
    return part / (registers * chip->warp_threads);
}

static int64_t blocks_by_registers(const ridge_chip *chip, int64_t registers,
                                   int64_t block_warps)
{
    if (registers == 0)
        return INT64_MAX;
    const int64_t given = round_up(registers, chip->thread_register_granule);
    return partition_warps(chip, given) * PARTITIONS / block_warps;
}

static double given_shared(const ridge_chip *chip, double bytes)
{
    const double granule = chip->shared_granule_bytes;
    return ceil((bytes + chip->block_reserved_bytes) / granule) * granule;
}

static int64_t blocks_by_shared(const ridge_chip *chip, double given)
{
    return given > 0 ? (int64_t)(chip->core_shared_bytes / given) : INT64_MAX;
}

static int64_t blocks_by_places(const ridge_chip *chip, int64_t block_warps)
{
    const int most = block_warps > 1 && chip->core_barriers > 0 ? chip->core_barriers
                                                                : chip->core_blocks;
    return most > 0 ? most : INT64_MAX;
}

/* The most registers of a thread with which @p blocks fit; 0: none do. */
static int64_t registers_for(const ridge_chip *chip, int64_t blocks,
                             int64_t block_warps)
{
    const int64_t granule = chip->thread_register_granule;
    const int64_t warps = ridge_ceil_div(blocks * block_warps, PARTITIONS);
    const int64_t most = partition_warps(chip, 1) / warps / granule * granule;
    return most < chip->thread_registers ? most : chip->thread_registers;
}

/* The most shared memory of a block with which @p blocks fit; -1: none does. */
static double shared_for(const ridge_chip *chip, int64_t blocks)
{
    const double granule = chip->shared_granule_bytes;
    const double given = floor(chip->core_shared_bytes / (double)blocks / granule);
    return fmax(given * granule - chip->block_reserved_bytes, -1);
}

/* Where one thing alone stands in the way of a block more, how much of it would do. */
static void find_next(const ridge_chip *chip, ridge_occupancy *o)
{
    const int64_t wanted = o->blocks + 1;
    int64_t others[RIDGE_OCCUPANCY_LIMIT_COUNT];
    o->next_shared_bytes = -1;
    for (int i = 0; i < RIDGE_OCCUPANCY_LIMIT_COUNT; i++) {
        others[i] = INT64_MAX;
        for (int j = 0; j < RIDGE_OCCUPANCY_LIMIT_COUNT; j++) {
            if (j != i && o->blocks_by[j] < others[i])
                others[i] = o->blocks_by[j];
        }
    }
    if (others[RIDGE_OCCUPANCY_LIMIT_REGISTERS] >= wanted &&
        o->blocks_by[RIDGE_OCCUPANCY_LIMIT_REGISTERS] < wanted)
        o->next_registers = registers_for(chip, wanted, o->block_warps);
    if (others[RIDGE_OCCUPANCY_LIMIT_SHARED] >= wanted &&
        o->blocks_by[RIDGE_OCCUPANCY_LIMIT_SHARED] < wanted)
        o->next_shared_bytes = shared_for(chip, wanted);
}

ridge_status ridge_chip_occupancy(ridge_ctx *cx, const ridge_chip *chip,
                                  const ridge_kernel *kernel, ridge_occupancy *out)
{
    RIDGE_TRY(check(cx, chip, kernel));
    ridge_occupancy o = {.kernel = *kernel};
    o.block_warps = ridge_ceil_div(kernel->threads, chip->warp_threads);
    o.register_bytes =
        round_up(kernel->registers, chip->thread_register_granule) * REGISTER_BYTES;
    o.block_shared_bytes = given_shared(chip, kernel->shared_bytes);
    o.blocks_by[RIDGE_OCCUPANCY_LIMIT_WARPS] = chip->core_warps / o.block_warps;
    o.blocks_by[RIDGE_OCCUPANCY_LIMIT_BLOCKS] = blocks_by_places(chip, o.block_warps);
    o.blocks_by[RIDGE_OCCUPANCY_LIMIT_REGISTERS] =
        blocks_by_registers(chip, kernel->registers, o.block_warps);
    o.blocks_by[RIDGE_OCCUPANCY_LIMIT_SHARED] =
        blocks_by_shared(chip, o.block_shared_bytes);
    o.blocks = INT64_MAX;
    for (int i = 0; i < RIDGE_OCCUPANCY_LIMIT_COUNT; i++) {
        if (o.blocks_by[i] < o.blocks)
            o.blocks = o.blocks_by[i];
    }
    o.warps = o.blocks * o.block_warps;
    o.share = (double)o.warps / chip->core_warps;
    o.chip_threads = (double)(o.blocks * kernel->threads) * chip->cores;
    find_next(chip, &o);
    *out = o;
    return RIDGE_OK;
}
