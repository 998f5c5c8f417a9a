/* Blocks and warps that a core holds, by hand from the limits of three machines. */
#include "near.h"
#include "ridge/hardware_occupancy.h"

#include <string.h>

static const ridge_chip hopper = {.name = "hopper",
                                  .cores = 132,
                                  .register_bytes = 132 * 262144.0,
                                  .warp_threads = 32,
                                  .core_warps = 64,
                                  .core_blocks = 32,
                                  .core_shared_bytes = 228 * 1024.0,
                                  .block_reserved_bytes = 1024,
                                  .shared_granule_bytes = 128,
                                  .thread_registers = 255,
                                  .thread_register_granule = 8};

static const ridge_chip cdna = {.name = "cdna",
                                .cores = 304,
                                .register_bytes = 304 * 524288.0,
                                .warp_threads = 64,
                                .core_warps = 32,
                                .core_barriers = 16,
                                .core_shared_bytes = 64 * 1024.0,
                                .shared_granule_bytes = 512,
                                .thread_registers = 512,
                                .thread_register_granule = 8};

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_occupancy of(ridge_ctx *cx, const ridge_chip *chip, int64_t threads,
                          int64_t registers, double shared_bytes)
{
    const ridge_kernel k = {threads, registers, shared_bytes};
    ridge_occupancy o;
    assert_int_equal(ridge_chip_occupancy(cx, chip, &k, &o), RIDGE_OK);
    return o;
}

static void registers_are_given_in_granules_to_warps_of_a_part(void **state)
{
    /* threads, registers, blocks: 40 of 33, 12 warps a part; 168 x 32, 3 warps a part;
     * a fifth warp finds its part of the file full */
    static const struct {
        int64_t threads, registers, blocks, next;
    } rows[] = {
        {256, 32, 8, 0},    {256, 33, 6, 32},   {256, 64, 4, 48}, {384, 168, 1, 80},
        {160, 255, 1, 168}, {128, 256, 2, 168}, {32, 0, 32, 0},   {1024, 65, 0, 64},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_occupancy o =
            of(*state, &hopper, rows[i].threads, rows[i].registers, 0);
        assert_int_equal(o.blocks, rows[i].blocks);
        assert_int_equal(o.next_registers, rows[i].next);
        assert_int_equal(o.warps, o.blocks * o.block_warps);
        assert_near(o.share, (double)o.warps / 64, 1e-15);
    }
}

/* The book's: 8 warps at 256 registers, 64 at 32. */
static void few_registers_fill_all_places(void **state)
{
    assert_int_equal(of(*state, &hopper, 128, 256, 0).warps, 8);
    assert_int_equal(of(*state, &hopper, 128, 32, 0).warps, 64);
    assert_near(of(*state, &hopper, 128, 32, 0).chip_threads, 132 * 2048, 0);
}

static void shared_memory_has_a_part_of_the_system(void **state)
{
    const ridge_occupancy two = of(*state, &hopper, 256, 0, 113 * 1024.0);
    assert_int_equal(two.blocks, 2);
    assert_near(two.block_shared_bytes, 114 * 1024.0, 0);
    assert_near(two.next_shared_bytes, 75 * 1024.0, 0); /* three of 76 KiB */
    assert_int_equal(of(*state, &hopper, 256, 0, 113 * 1024.0 + 1).blocks, 1);
    assert_int_equal(of(*state, &hopper, 256, 0, 227 * 1024.0).blocks, 1);
    /* registers stand in the way as well: neither alone would do */
    const ridge_occupancy both = of(*state, &hopper, 256, 64, 48 * 1024.0);
    assert_int_equal(both.blocks, 4);
    assert_int_equal(both.next_registers, 0);
    assert_near(both.next_shared_bytes, -1, 0);
}

static void workgroups_of_one_wave_need_no_barrier(void **state)
{
    assert_int_equal(of(*state, &cdna, 64, 64, 0).blocks, 32);
    assert_int_equal(of(*state, &cdna, 128, 64, 0).blocks, 16);
    assert_int_equal(of(*state, &cdna, 256, 72, 0).blocks, 7); /* 7 waves a SIMD */
    assert_int_equal(of(*state, &cdna, 256, 512, 0).blocks, 1);
    assert_int_equal(of(*state, &cdna, 256, 0, 32 * 1024.0).blocks, 2);
    assert_int_equal(of(*state, &cdna, 256, 0, 32 * 1024.0 + 1).blocks, 1);
}

/* Whatever is asked for more: never more blocks; what would give one more, does. */
static void one_block_more_fits_as_told(void **state)
{
    for (int64_t threads = 32; threads <= 1024; threads += 96) {
        for (int64_t r = 8; r <= 255; r += 13) {
            for (double s = 0; s < 220e3; s += 31e3) {
                const ridge_occupancy o = of(*state, &hopper, threads, r, s);
                assert_true(of(*state, &hopper, threads, r + 1, s).blocks <= o.blocks);
                assert_true(of(*state, &hopper, threads, r, s + 99).blocks <= o.blocks);
                const int64_t n = o.next_registers;
                if (n > 0) {
                    assert_true(of(*state, &hopper, threads, n, s).blocks > o.blocks);
                    assert_int_equal(of(*state, &hopper, threads, n + 1, s).blocks,
                                     o.blocks);
                }
                const double bytes = o.next_shared_bytes;
                if (bytes >= 0) {
                    assert_true(of(*state, &hopper, threads, r, bytes).blocks >
                                o.blocks);
                    assert_int_equal(of(*state, &hopper, threads, r, bytes + 1).blocks,
                                     o.blocks);
                }
            }
        }
    }
}

static void kernels_are_read_and_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_kernel k;
    assert_int_equal(ridge_kernel_parse(cx, " shared=48KiB, threads = 256", &k),
                     RIDGE_OK);
    assert_int_equal(k.threads, 256);
    assert_int_equal(k.registers, 0);
    assert_near(k.shared_bytes, 49152, 0);
    assert_int_equal(ridge_kernel_parse(cx, "registers=40", &k), RIDGE_OK);
    assert_int_equal(k.threads, RIDGE_KERNEL_THREADS_USUAL);
    static const char *const bad[] = {
        "",           "threads",  "threads=0",           "threads=1025", "registers=-1",
        "shared=-1",  "shared=x", "threads=2.5",         "regs=3",       "threads=1,",
        "registers=", "=3",       "threads=1,threads=1",
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++)
        assert_int_equal(ridge_kernel_parse(cx, bad[i], &k), RIDGE_E_ARG);
}

static void what_a_chip_cannot_hold_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_occupancy o;
    const ridge_kernel kernels[] = {
        {0, 0, 0}, {1025, 0, 0}, {32, 257, 0}, {32, -1, 0}, {32, 0, 227 * 1024.0 + 1}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(kernels); i++)
        assert_int_equal(ridge_chip_occupancy(cx, &hopper, &kernels[i], &o),
                         RIDGE_E_ARG);
    const ridge_chip bare = {.name = "bare", .cores = 2};
    const ridge_kernel k = {32, 32, 0};
    assert_int_equal(ridge_chip_occupancy(cx, &bare, &k, &o), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "what a core of bare holds"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_given_in_granules_to_warps_of_a_part),
        cmocka_unit_test(few_registers_fill_all_places),
        cmocka_unit_test(shared_memory_has_a_part_of_the_system),
        cmocka_unit_test(workgroups_of_one_wave_need_no_barrier),
        cmocka_unit_test(one_block_more_fits_as_told),
        cmocka_unit_test(kernels_are_read_and_refused),
        cmocka_unit_test(what_a_chip_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
