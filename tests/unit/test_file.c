/* Whole files in and out, and each way in which that cannot be. */
#include "near.h"
#include "ridge/base.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

typedef struct world {
    ridge_ctx *cx;
    const char *dir; /* of this test alone, empty at its start */
} world;

static const char *path_of(const world *w, const char *name)
{
    return ridge_sprintf(ridge_ctx_arena(w->cx), "%s/%s", w->dir, name);
}

static void empty_folder(const world *w)
{
    DIR *dir = opendir(w->dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (e->d_name[0] != '.')
            unlink(path_of(w, e->d_name));
    }
    closedir(dir);
}

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    *w = (world){cx, RIDGE_BUILD_DIR "/test_file.dir"};
    mkdir(w->dir, 0777);
    empty_folder(w);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    empty_folder(w);
    rmdir(w->dir);
    ridge_ctx_close(w->cx);
    return 0;
}

static int count_files(const world *w)
{
    int n = 0;
    DIR *dir = opendir(w->dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        n += e->d_name[0] != '.' ? 1 : 0;
    closedir(dir);
    return n;
}

static void assert_refused(const world *w, const char *path, const char *message)
{
    ridge_str text = {"kept", 4};
    assert_int_equal(ridge_file_read(w->cx, path, MOST_BYTES, &text), RIDGE_E_IO);
    if (strstr(ridge_ctx_message(w->cx), message) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", ridge_ctx_message(w->cx), message);
    assert_true(ridge_str_is(text, "kept"));
}

static void what_was_written_is_read(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 16383, 16384, 16385, 70000, 1 << 20};
    const world *w = *state;
    const char *path = path_of(w, "a");
    char *bytes = ridge_new(ridge_ctx_arena(w->cx), char, MOST_BYTES);
    for (size_t i = 0; i < MOST_BYTES; i++)
        bytes[i] = (char)(i * 31 + i / 257);
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++) {
        ridge_str text = {bytes, sizes[i]};
        ridge_str read = {0};
        assert_int_equal(ridge_file_write(w->cx, path, text), RIDGE_OK);
        assert_int_equal(ridge_file_read(w->cx, path, MOST_BYTES, &read), RIDGE_OK);
        assert_true(ridge_str_equal(read, text));
        assert_int_equal(read.p[read.n], '\0');
    }
    assert_int_equal(count_files(w), 1); /* no temporary file is left */
}

static void what_cannot_be_read_says_why(void **state)
{
    const world *w = *state;
    const char *missing = path_of(w, "missing");
    assert_refused(w, missing, "No such file or directory: check the path");
    assert_refused(w, missing, missing);
    assert_refused(w, w->dir, "is a folder: name a file in it");
    assert_refused(w, "", "No such file or directory");
    assert_refused(w, "/dev/zero", "larger than 1 MiB: is this the right file?");
    ridge_str text = {0}; /* a device that does not end is met soon, not at the limit */
    assert_int_equal(ridge_file_read(w->cx, "/dev/zero", (size_t)1 << 40, &text),
                     RIDGE_E_IO);
}

static void a_limit_is_met_exactly(void **state)
{
    const world *w = *state;
    const char *path = path_of(w, "a");
    ridge_str text = {0};
    assert_int_equal(ridge_file_write(w->cx, path, ridge_str_of("12345")), RIDGE_OK);
    assert_int_equal(ridge_file_read(w->cx, path, 5, &text), RIDGE_OK);
    assert_true(ridge_str_is(text, "12345"));
    assert_int_equal(ridge_file_read(w->cx, path, 4, &text), RIDGE_E_IO);
    assert_int_equal(ridge_file_read(w->cx, path, 0, &text), RIDGE_E_IO);
}

static void files_that_do_not_tell_their_size_are_read(void **state)
{
    const world *w = *state;
    ridge_str text = {0};
    assert_int_equal(ridge_file_read(w->cx, "/dev/null", MOST_BYTES, &text), RIDGE_OK);
    assert_int_equal(text.n, 0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char bytes[40000];
    memset(bytes, 'p', sizeof bytes);
    assert_int_equal(write(ends[1], bytes, sizeof bytes), sizeof bytes);
    close(ends[1]);
    const char *path = ridge_sprintf(ridge_ctx_arena(w->cx), "/dev/fd/%d", ends[0]);
    assert_int_equal(ridge_file_read(w->cx, path, MOST_BYTES, &text), RIDGE_OK);
    assert_true(ridge_str_equal(text, (ridge_str){bytes, sizeof bytes}));
    close(ends[0]);
}

static void a_file_is_replaced_whole(void **state)
{
    const world *w = *state;
    const char *path = path_of(w, "a");
    ridge_str before = {0};
    assert_int_equal(ridge_file_write(w->cx, path, ridge_str_of("old text")), RIDGE_OK);
    FILE *reader = fopen(path, "rb");
    assert_int_equal(ridge_file_write(w->cx, path, ridge_str_of("new")), RIDGE_OK);
    /* Whoever had the old one open still reads it whole. */
    char old[9] = {0};
    assert_int_equal(fread(old, 1, 8, reader), 8);
    assert_string_equal(old, "old text");
    fclose(reader);
    assert_int_equal(ridge_file_read(w->cx, path, 99, &before), RIDGE_OK);
    assert_true(ridge_str_is(before, "new"));
}

static void a_link_in_the_way_is_not_followed(void **state)
{
    const world *w = *state;
    const char *path = path_of(w, "a");
    const char *precious = path_of(w, "precious");
    ridge_str text = {0};
    assert_int_equal(ridge_file_write(w->cx, precious, ridge_str_of("kept")), RIDGE_OK);
    const char *trap =
        ridge_sprintf(ridge_ctx_arena(w->cx), "%s.%ld-0.tmp", path, (long)getpid());
    assert_int_equal(symlink(precious, trap), 0);
    assert_int_equal(ridge_file_write(w->cx, path, ridge_str_of("new")), RIDGE_OK);
    assert_int_equal(ridge_file_read(w->cx, precious, 99, &text), RIDGE_OK);
    assert_true(ridge_str_is(text, "kept"));
}

static void what_cannot_be_written_says_why(void **state)
{
    const world *w = *state;
    const ridge_str text = ridge_str_of("x");
    assert_int_equal(ridge_file_write(w->cx, w->dir, text), RIDGE_E_IO);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "is a folder"));
    assert_int_equal(ridge_file_write(w->cx, path_of(w, "no/such"), text), RIDGE_E_IO);
    assert_non_null(strstr(ridge_ctx_message(w->cx),
                           "check that the folder exists and can be written"));
    assert_int_equal(ridge_file_write(w->cx, "/dev/full", text), RIDGE_E_IO);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "No space left on device"));
    assert_int_equal(count_files(w), 0);
}

static void a_device_is_written_in_place(void **state)
{
    const world *w = *state;
    struct stat st;
    assert_int_equal(ridge_file_write(w->cx, "/dev/null", ridge_str_of("x")), RIDGE_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void paths_are_told_apart(void **state)
{
    const world *w = *state;
    assert_true(ridge_path_is_dir(w->dir));
    assert_true(ridge_path_exists(w->dir));
    assert_false(ridge_path_is_dir("/dev/null"));
    assert_true(ridge_path_exists("/dev/null"));
    assert_false(ridge_path_exists(path_of(w, "missing")));
    assert_false(ridge_path_is_dir(path_of(w, "missing")));
}

static void short_memory_is_a_status(void **state)
{
    const world *w = *state;
    const char *path = path_of(w, "a");
    char bytes[50000];
    ridge_str text = {0};
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(ridge_file_write(w->cx, path, (ridge_str){bytes, sizeof bytes}),
                     RIDGE_OK);
    ridge_ctx *cx = ridge_ctx_open_budget(40000);
    assert_int_equal(ridge_file_read(cx, path, MOST_BYTES, &text), RIDGE_E_NOMEM);
    assert_int_equal(ridge_file_read(cx, "/dev/zero", MOST_BYTES, &text),
                     RIDGE_E_NOMEM);
    ridge_ctx_close(cx);
    ridge_ctx *none = ridge_ctx_open_budget(0);
    assert_int_equal(ridge_file_write(none, path, ridge_str_of("x")), RIDGE_E_NOMEM);
    ridge_ctx_close(none);
    assert_int_equal(count_files(w), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_written_is_read),
        CASE(what_cannot_be_read_says_why),
        CASE(a_limit_is_met_exactly),
        CASE(files_that_do_not_tell_their_size_are_read),
        CASE(a_file_is_replaced_whole),
        CASE(a_link_in_the_way_is_not_followed),
        CASE(what_cannot_be_written_says_why),
        CASE(a_device_is_written_in_place),
        CASE(paths_are_told_apart),
        CASE(short_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
