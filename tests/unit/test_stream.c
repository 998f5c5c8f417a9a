/* Files read piece by piece, packed or not, whole or damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ridge/base_stream.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20 };

/* "ridge ridge ridge\n" as gzip -9n and zstd -19 write it */
static const char gzip_text[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xca\x4c\x49\x4f\x55\x28\x42\x90\x5c"
    "\x00\x14\xd8\xa0\xb1\x12\x00\x00\x00";
static const char zstd_text[] =
    "\x28\xb5\x2f\xfd\x20\x12\x6d\x00\x00\x38\x72\x69\x64\x67\x65\x20\x0a\x01\x00\x31"
    "\x4a\x11";
static const char plain_text[] = "ridge ridge ridge\n";

typedef struct world {
    ridge_ctx *cx;
    const char *path;
} world;

static int set_up(void **state)
{
    static world w;
    w.cx = ridge_ctx_open();
    w.path = RIDGE_BUILD_DIR "/test_stream.bin";
    *state = &w;
    return w.cx == NULL;
}

static int tear_down(void **state)
{
    world *w = *state;
    remove(w->path);
    ridge_ctx_close(w->cx);
    return 0;
}

static void put(world *w, const char *p, size_t n)
{
    assert_int_equal(ridge_file_write(w->cx, w->path, (ridge_str){p, n}), RIDGE_OK);
}

static void assert_read(world *w, const char *want, const char *want_fault)
{
    ridge_str text;
    const char *fault = NULL;
    assert_int_equal(
        ridge_file_read_unpacked(w->cx, w->path, MOST_BYTES, &fault, &text), RIDGE_OK);
    assert_int_equal(text.n, strlen(want));
    assert_memory_equal(text.p, want, text.n);
    if (want_fault)
        assert_non_null(strstr(fault ? fault : "", want_fault));
    else
        assert_null(fault);
}

static void plain_files_come_as_they_are(void **state)
{
    world *w = *state;
    put(w, plain_text, sizeof plain_text - 1);
    assert_read(w, plain_text, NULL);
    put(w, "", 0);
    assert_read(w, "", NULL);
}

static void gzip_members_follow_each_other(void **state)
{
    world *w = *state;
    char twice[2 * sizeof gzip_text];
    const size_t n = sizeof gzip_text - 1;
    memcpy(twice, gzip_text, n);
    memcpy(twice + n, gzip_text, n);
    put(w, gzip_text, n);
    assert_read(w, plain_text, NULL);
    put(w, twice, 2 * n);
    assert_read(w, "ridge ridge ridge\nridge ridge ridge\n", NULL);
}

static void what_a_cut_file_held_is_read(void **state)
{
    world *w = *state;
    ridge_str text;
    put(w, gzip_text, sizeof gzip_text - 5);
    assert_read(w, plain_text, "too early");
    assert_int_equal(ridge_file_read_unpacked(w->cx, w->path, MOST_BYTES, NULL, &text),
                     RIDGE_E_IO);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "too early"));
}

static void damage_is_told(void **state)
{
    world *w = *state;
    char bad[sizeof gzip_text];
    memcpy(bad, gzip_text, sizeof bad);
    bad[12] ^= 0x55;
    put(w, bad, sizeof bad - 1);
    ridge_str text;
    const char *fault = NULL;
    assert_int_equal(
        ridge_file_read_unpacked(w->cx, w->path, MOST_BYTES, &fault, &text), RIDGE_OK);
    assert_non_null(fault);
}

static void zstd_is_unpacked(void **state)
{
    world *w = *state;
    put(w, zstd_text, sizeof zstd_text - 1);
    assert_read(w, plain_text, NULL);
    put(w, zstd_text, sizeof zstd_text - 3);
    assert_read(w, "", "too early");
}

static void sizes_are_limited(void **state)
{
    world *w = *state;
    ridge_str text;
    put(w, plain_text, sizeof plain_text - 1);
    assert_int_equal(ridge_file_read_unpacked(w->cx, w->path, 4, NULL, &text),
                     RIDGE_E_IO);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "larger than"));
    assert_int_equal(
        ridge_file_read_unpacked(w->cx, "no/such", MOST_BYTES, NULL, &text),
        RIDGE_E_IO);
    assert_int_equal(
        ridge_file_read_unpacked(w->cx, RIDGE_BUILD_DIR, MOST_BYTES, NULL, &text),
        RIDGE_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_files_come_as_they_are, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(gzip_members_follow_each_other, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_cut_file_held_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(damage_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zstd_is_unpacked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_are_limited, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
