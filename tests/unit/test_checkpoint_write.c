/* Checkpoints that are whole or not there: runs that are ended, full disks, files that
 * are cut or lie, old checkpoints that stay or go. */
#include "near.h"

#include "own_folder.h"

#include "ridge/execute_weights.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2, SIDE = 64 };

typedef struct world {
    ridge_ctx *cx;
    const char *top; /* the test's folder, and the checkpoints' in it */
    const char *dir;
    float *data; /* [SIDE, SIDE], element i is i */
} world;

static int open_world(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    const char *top = own_folder(cx, "test_checkpoint_write.dir");
    *w = (world){cx, top, own_path(cx, top, "run"),
                 ridge_new(ridge_ctx_arena(cx), float, SIDE *SIDE)};
    for (int i = 0; i < SIDE * SIDE; i++)
        w->data[i] = (float)i;
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    own_folder_remove(w->top);
    ridge_ctx_close(w->cx);
    return 0;
}

static ridge_checkpoint_plan plan_of(const world *w, int64_t step)
{
    return (ridge_checkpoint_plan){
        .dir = w->dir, .step = step, .ranks = RANKS, .model = "m"};
}

/* Rank r has rows [32 r, 32 r + 32) of "w" of layer 3. */
static ridge_checkpoint_part half_of(const world *w, int rank)
{
    return (ridge_checkpoint_part){.name = "w",
                                   .layer = 3,
                                   .element = RIDGE_ELEMENT_F32,
                                   .region = {.n_dims = 2,
                                              .shape = {SIDE, SIDE},
                                              .start = {SIDE / 2 * rank, 0},
                                              .count = {SIDE / 2, SIDE}},
                                   .data = w->data + rank * SIDE * SIDE / 2};
}

static ridge_status write_rank(ridge_ctx *cx, const world *w,
                               const ridge_checkpoint_plan *plan, int rank)
{
    const ridge_checkpoint_part part = half_of(w, rank);
    const ridge_checkpoint_share share = {.rank = rank, .n = 1, .parts = &part};
    return ridge_checkpoint_write_rank(cx, plan, &share);
}

static const char *save(const world *w, const ridge_checkpoint_plan *plan)
{
    const char *path = NULL;
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, plan));
    for (int rank = 0; rank < RANKS; rank++)
        assert_done(w->cx, write_rank(w->cx, w, plan, rank));
    assert_done(w->cx, ridge_checkpoint_commit(w->cx, plan, &path));
    return path;
}

static const char *save_step(const world *w, int64_t step)
{
    const ridge_checkpoint_plan plan = plan_of(w, step);
    return save(w, &plan);
}

static void assert_whole(const world *w, int64_t step)
{
    const ridge_checkpoint_reader *r;
    float got[SIDE * SIDE];
    assert_int_equal(ridge_checkpoint_latest(w->cx, w->dir), step);
    assert_done(w->cx, ridge_checkpoint_reader_open(w->cx, w->dir, &r));
    assert_int_equal(ridge_checkpoint_reader_step(r), step);
    const ridge_checkpoint_part want = {
        .name = "w",
        .layer = 3,
        .element = RIDGE_ELEMENT_F32,
        .region = ridge_region_whole(2, (int64_t[]){SIDE, SIDE})};
    assert_done(w->cx, ridge_checkpoint_reader_read(w->cx, r, &want, got));
    assert_memory_equal(got, w->data, sizeof got);
}

/* ---- what it holds --------------------------------------------------------------- */

static void a_reader_knows_what_was_saved(void **state)
{
    const world *w = *state;
    ridge_checkpoint_plan plan = plan_of(w, 100);
    ridge_mesh mesh;
    ridge_json *json = ridge_json_object(w->cx);
    int64_t seed = 0;
    const ridge_checkpoint_reader *r;
    assert_done(w->cx, ridge_mesh_parse(w->cx, "dp=2,tp=4", &mesh));
    ridge_json_set_i64(json, "seed", 7);
    plan.mesh = &mesh;
    plan.state = json;
    const char *path = save(w, &plan);
    assert_non_null(strstr(path, "run/step-000100"));
    assert_done(w->cx, ridge_checkpoint_reader_open(w->cx, path, &r));
    assert_string_equal(ridge_checkpoint_reader_path(r), path);
    assert_string_equal(ridge_checkpoint_reader_model(r), "m");
    assert_string_equal(ridge_checkpoint_reader_mesh(r), "dp=2,tp=4");
    const ridge_node kept = ridge_checkpoint_reader_state(r);
    assert_true(ridge_json_i64(ridge_json_get(&kept, "seed"), &seed));
    assert_int_equal(seed, 7);
    assert_int_equal(ridge_checkpoint_reader_count(r), 1);
    const ridge_checkpoint_tensor t = ridge_checkpoint_reader_tensor(r, 0);
    assert_string_equal(t.name, "w");
    assert_int_equal(t.layer, 3);
    assert_int_equal(t.shape[1], SIDE);
    assert_true(ridge_checkpoint_reader_has(r, "w", 3));
    assert_false(ridge_checkpoint_reader_has(r, "w", -1));
    assert_whole(w, 100);
}

static void what_is_asked_for_must_be_there(void **state)
{
    const world *w = *state;
    const ridge_checkpoint_reader *r;
    float got[SIDE * SIDE];
    assert_done(w->cx, ridge_checkpoint_reader_open(w->cx, save_step(w, 1), &r));
    ridge_checkpoint_part want = {.name = "w",
                                  .layer = 4,
                                  .region =
                                      ridge_region_whole(2, (int64_t[]){SIDE, SIDE})};
    assert_failed(w->cx, ridge_checkpoint_reader_read(w->cx, r, &want, got),
                  RIDGE_E_NOTFOUND, "the checkpoint has no w of layer 4");
    want.layer = 3;
    want.region.start[0] = 1;
    assert_failed(w->cx, ridge_checkpoint_reader_read(w->cx, r, &want, got),
                  RIDGE_E_ARG,
                  "no region of w of layer 3: its dim 0 has 64 elements from 1, of 64");
    want.region = ridge_region_whole(2, (int64_t[]){SIDE, 2});
    assert_failed(w->cx, ridge_checkpoint_reader_read(w->cx, r, &want, got),
                  RIDGE_E_PARSE, "is [64, 64] there");
    want.region = ridge_region_whole(2, (int64_t[]){SIDE, SIDE});
    want.element = RIDGE_ELEMENT_I32;
    assert_failed(w->cx, ridge_checkpoint_reader_read(w->cx, r, &want, got),
                  RIDGE_E_ARG, "is F32 there");
}

/* ---- ended runs ------------------------------------------------------------------ */

static void a_run_that_was_ended_leaves_the_last_whole_one(void **state)
{
    const world *w = *state;
    const ridge_checkpoint_plan next = plan_of(w, 2);
    save_step(w, 1);
    /* Ended after begin, after one rank, after all ranks: nothing counts. */
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, &next));
    assert_whole(w, 1);
    assert_done(w->cx, write_rank(w->cx, w, &next, 0));
    assert_whole(w, 1);
    assert_done(w->cx, write_rank(w->cx, w, &next, 1));
    assert_whole(w, 1);
    assert_int_equal(own_folder_count(w->dir), 2);
    /* The next run sweeps it up. */
    save_step(w, 3);
    assert_whole(w, 3);
    assert_int_equal(own_folder_count(w->dir), 2);
}

static ridge_status save_quietly(ridge_ctx *cx, const world *w, int64_t step)
{
    const ridge_checkpoint_plan plan = plan_of(w, step);
    RIDGE_TRY(ridge_checkpoint_begin(cx, &plan));
    for (int rank = 0; rank < RANKS; rank++)
        RIDGE_TRY(write_rank(cx, w, &plan, rank));
    return ridge_checkpoint_commit(cx, &plan, NULL);
}

/* A process that writes checkpoints as fast as it can, until it is killed. */
static pid_t start_saving(const world *w)
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    ridge_ctx *cx = ridge_ctx_open();
    for (int64_t step = 0; save_quietly(cx, w, step) == RIDGE_OK; step = (step + 1) % 3)
        continue;
    _exit(1);
}

static void a_killed_run_leaves_a_whole_one(void **state)
{
    const world *w = *state;
    save_step(w, 0);
    for (int trial = 0; trial < 5; trial++) {
        const struct timespec some = {0, 20000000 + 7000000 * trial};
        const pid_t child = start_saving(w);
        int status = 0;
        nanosleep(&some, NULL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        assert_true(ridge_checkpoint_latest(w->cx, w->dir) >= 0);
        assert_whole(w, ridge_checkpoint_latest(w->cx, w->dir));
    }
}

static void a_step_may_be_saved_again(void **state)
{
    const world *w = *state;
    save_step(w, 5);
    w->data[0] = 17.0F;
    save_step(w, 5);
    assert_whole(w, 5);
    assert_int_equal(own_folder_count(w->dir), 1);
    /* Ended between the two renames: the old one is taken back. */
    assert_int_equal(rename(own_path(w->cx, w->dir, "step-000005"),
                            own_path(w->cx, w->dir, "step-000005.old")),
                     0);
    assert_whole(w, 5);
    assert_int_equal(own_folder_count(w->dir), 1);
}

static void older_ones_go_once_the_new_one_is_whole(void **state)
{
    const world *w = *state;
    for (int64_t step = 1; step <= 5; step++) {
        ridge_checkpoint_plan plan = plan_of(w, step);
        plan.keep = 2;
        save(w, &plan);
        assert_int_equal(own_folder_count(w->dir), step < 2 ? 1 : 2);
    }
    assert_true(ridge_path_exists(own_path(w->cx, w->dir, "step-000004")));
    /* What is not of a checkpoint stays, and its folder. */
    own_file(w->cx, own_path(w->cx, w->dir, "step-000004"), "notes.txt", "a", 1);
    ridge_checkpoint_plan plan = plan_of(w, 6);
    plan.keep = 1;
    save(w, &plan);
    assert_true(ridge_path_exists(own_path(w->cx, w->dir, "step-000004/notes.txt")));
    assert_false(ridge_path_exists(own_path(w->cx, w->dir, "step-000005")));
    assert_whole(w, 6);
}

/* ---- disks ----------------------------------------------------------------------- */

/* Files may not grow beyond a limit: as on a full disk, a write fails. In a process of
 * its own, which tells by its exit what it saw. */
static int fill_disk(const world *w)
{
    const ridge_checkpoint_plan plan = plan_of(w, 2);
    const struct rlimit small = {4096, 4096};
    ridge_ctx *cx = ridge_ctx_open();
    signal(SIGXFSZ, SIG_IGN);
    if (ridge_checkpoint_begin(cx, &plan) != RIDGE_OK ||
        setrlimit(RLIMIT_FSIZE, &small) != 0)
        return 2;
    if (write_rank(cx, w, &plan, 0) != RIDGE_E_IO)
        return 3;
    ridge_checkpoint_abandon(cx, &plan);
    const char *message = ridge_ctx_message(cx);
    const bool is_told = strstr(message, "is the disk full?") != NULL &&
                         strstr(message, "rank-00000.safetensors") != NULL;
    ridge_ctx_close(cx);
    return is_told ? 0 : 4;
}

static void a_full_disk_leaves_the_old_one(void **state)
{
    const world *w = *state;
    int status = 0;
    save_step(w, 1);
    const pid_t child = fork();
    if (child == 0)
        _exit(fill_disk(w));
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(own_folder_count(w->dir), 1);
    assert_whole(w, 1);
}

static void parts_must_make_whole_tensors(void **state)
{
    const world *w = *state;
    const ridge_checkpoint_plan plan = plan_of(w, 1);
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, &plan));
    assert_done(w->cx, write_rank(w->cx, w, &plan, 0));
    assert_failed(w->cx, ridge_checkpoint_commit(w->cx, &plan, NULL), RIDGE_E_IO,
                  "rank-00001.safetensors");
    assert_int_equal(own_folder_count(w->dir), 0);

    ridge_checkpoint_part part = half_of(w, 0);
    ridge_checkpoint_share share = {.rank = 1, .n = 1, .parts = &part};
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, &plan));
    assert_done(w->cx, write_rank(w->cx, w, &plan, 0));
    assert_done(w->cx, ridge_checkpoint_write_rank(w->cx, &plan, &share));
    assert_failed(w->cx, ridge_checkpoint_commit(w->cx, &plan, NULL), RIDGE_E_PARSE,
                  "two parts of w of layer 3 overlap");

    share.n = 0;
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, &plan));
    assert_done(w->cx, write_rank(w->cx, w, &plan, 0));
    assert_done(w->cx, ridge_checkpoint_write_rank(w->cx, &plan, &share));
    assert_failed(w->cx, ridge_checkpoint_commit(w->cx, &plan, NULL), RIDGE_E_PARSE,
                  "hold 2048 of its 4096 elements");

    const ridge_checkpoint_part twice[] = {part, part};
    share = (ridge_checkpoint_share){.rank = 0, .n = 2, .parts = twice};
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, &plan));
    assert_failed(w->cx, ridge_checkpoint_write_rank(w->cx, &plan, &share), RIDGE_E_ARG,
                  "w of layer 3 is saved twice by rank 0");
    part.name = "a/b";
    share = (ridge_checkpoint_share){.rank = 0, .n = 1, .parts = &part};
    assert_failed(w->cx, ridge_checkpoint_write_rank(w->cx, &plan, &share), RIDGE_E_ARG,
                  "neither / nor @");
}

/* ---- lies ------------------------------------------------------------------------ */

/* Replace a text of checkpoint.json by another. */
static void edit(const world *w, const char *folder, const char *from, const char *to)
{
    ridge_str text;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(w->cx));
    const char *path = own_path(w->cx, folder, "checkpoint.json");
    assert_done(w->cx, ridge_file_read(w->cx, path, 1 << 20, &text));
    const char *at = strstr(text.p, from);
    assert_non_null(at);
    ridge_buf_add(&b, (ridge_str){text.p, (size_t)(at - text.p)});
    ridge_buf_puts(&b, to);
    ridge_buf_puts(&b, at + strlen(from));
    own_file(w->cx, folder, "checkpoint.json", b.p, b.n);
}

static void a_lying_list_is_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } rows[] = {
        {"\"ridge_checkpoint\": 1", "\"ridge_checkpoint\": 2", "version 2: this Ridge"},
        {"\"layer\": 3", "\"layer\": -3", "tensors[0].layer"},
        {"\"F32\"", "\"BF16\"", "of another shape or format"},
        {"\"F32\"", "\"F99\"", "dtype \"F99\""},
        {"\"file\": 0", "\"file\": 9", "parts[0].file"},
        {"\"file\": 0", "\"file\": 1", "has no \"w/3@0,0\""},
        {"rank-00000", "../rank-00000", "is no file of the folder"},
        {"rank-00000", "rank-00007", "is missing"},
        {"\"bytes\": ", "\"bytes\": 1", "it is cut or of another checkpoint"},
        {"w/3@0,0", "w/3@0,1", "has no \"w/3@0,1\""},
        {"\"start\"", "\"begin\"", "a list of at most"},
        {"\"has_state\": false", "\"has_state\": true", "state.json"},
    };
    const world *w = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_checkpoint_reader *r;
        const char *path = save_step(w, 1);
        edit(w, path, rows[i].from, rows[i].to);
        const ridge_status st = ridge_checkpoint_reader_open(w->cx, path, &r);
        assert_true(st == RIDGE_E_PARSE || st == RIDGE_E_IO);
        assert_failed(w->cx, st, st, rows[i].message);
    }
}

static void a_cut_file_is_refused_and_an_older_one_taken(void **state)
{
    const world *w = *state;
    const ridge_checkpoint_reader *r;
    save_step(w, 1);
    const char *path = save_step(w, 2);
    assert_null(ridge_checkpoint_latest_fault(w->cx, w->dir));
    assert_int_equal(truncate(own_path(w->cx, path, "rank-00001.safetensors"), 5000),
                     0);
    assert_failed(w->cx, ridge_checkpoint_reader_open(w->cx, path, &r), RIDGE_E_PARSE,
                  "has 5000 bytes, not");
    assert_whole(w, 1);
    assert_non_null(
        strstr(ridge_checkpoint_latest_fault(w->cx, w->dir), "has 5000 bytes, not"));
    path = own_path(w->cx, w->dir, "step-000001");
    assert_int_equal(truncate(own_path(w->cx, path, "checkpoint.json"), 100), 0);
    assert_failed(w->cx, ridge_checkpoint_reader_open(w->cx, w->dir, &r),
                  RIDGE_E_NOTFOUND, "no checkpoint there is whole: ");
    own_folder_remove(w->dir);
    assert_failed(w->cx, ridge_checkpoint_reader_open(w->cx, w->dir, &r),
                  RIDGE_E_NOTFOUND, "no checkpoint there: name the folder of a run");
    assert_int_equal(ridge_checkpoint_latest(w->cx, w->dir), -1);
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_reader_knows_what_was_saved),
        IN_WORLD(what_is_asked_for_must_be_there),
        IN_WORLD(a_run_that_was_ended_leaves_the_last_whole_one),
        IN_WORLD(a_killed_run_leaves_a_whole_one),
        IN_WORLD(a_step_may_be_saved_again),
        IN_WORLD(older_ones_go_once_the_new_one_is_whole),
        IN_WORLD(a_full_disk_leaves_the_old_one),
        IN_WORLD(parts_must_make_whole_tensors),
        IN_WORLD(a_lying_list_is_refused),
        IN_WORLD(a_cut_file_is_refused_and_an_older_one_taken),
    };
#undef IN_WORLD
    return cmocka_run_group_tests(tests, NULL, NULL);
}
