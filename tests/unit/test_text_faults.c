/* Memory that runs out at any point of reading tokenizers, text, weights and
 * checkpoints: a status, never a crash, and success once there is enough. */
#include "near.h"

#include "own_folder.h"
#include "tokenizer_build.h"
#include "weights_build.h"

#include "ridge/execute_weights.h"

#include <string.h>

enum { MOST_BYTES = 1 << 24, STEPS = 160 };

typedef struct world {
    ridge_ctx *cx;
    const char *dir;
    ridge_str tokenizer;
    const char *text, *weights, *run;
} world;

static void save(const world *w)
{
    static const float data[4] = {1, 2, 3, 4};
    const ridge_checkpoint_plan plan = {.dir = w->run, .step = 1, .ranks = 1};
    const ridge_checkpoint_part part = {.name = "w",
                                        .layer = -1,
                                        .element = RIDGE_ELEMENT_F32,
                                        .region =
                                            ridge_region_whole(2, (int64_t[]){2, 2}),
                                        .data = data};
    const ridge_checkpoint_share share = {.rank = 0, .n = 1, .parts = &part};
    assert_done(w->cx, ridge_checkpoint_begin(w->cx, &plan));
    assert_done(w->cx, ridge_checkpoint_write_rank(w->cx, &plan, &share));
    assert_done(w->cx, ridge_checkpoint_commit(w->cx, &plan, NULL));
}

static int open_world(void **state)
{
    static const built_weight EMBEDDING = {
        "model.embed_tokens.weight", "BF16", 2, {3, 2}, 0};
    static const tokenizer_parts PARTS = {
        .tokens = "he hel",
        .merges = "\"h e\", \"he l\"",
        .normalizer = "{\"type\": \"NFC\"}",
        .added = "{\"id\": 258, \"content\": \"</s>\", \"special\": true}"};
    ridge_ctx *cx = ridge_ctx_open();
    world *w = cx == NULL ? NULL : ridge_new(ridge_ctx_arena(cx), world, 1);
    if (w == NULL)
        return -1;
    w->cx = cx;
    w->dir = own_folder(cx, "test_text_faults.dir");
    w->tokenizer = tokenizer_text(cx, &PARTS);
    w->text = own_file(cx, w->dir, "a.txt", "hello e\xCC\x81 hell", 15);
    w->weights = weights_file(cx, w->dir, "w.safetensors", &EMBEDDING, 1);
    w->run = own_path(cx, w->dir, "run");
    save(w);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    own_folder_remove(w->dir);
    ridge_ctx_close(w->cx);
    return 0;
}

static ridge_status read_text(ridge_ctx *cx, const world *w)
{
    const ridge_tokenizer *t;
    const ridge_token_data *data;
    const ridge_data_options options = {0};
    RIDGE_TRY(ridge_tokenizer_parse_json(cx, w->tokenizer, "t.json", 0, &t));
    return ridge_token_data_open(cx, t, &w->text, 1, &options, &data);
}

static ridge_status read_weights(ridge_ctx *cx, const world *w)
{
    const ridge_weight_source *s;
    const ridge_region g = ridge_region_whole(2, (int64_t[]){3, 2});
    float out[6];
    RIDGE_TRY(ridge_weight_source_open(cx, w->weights, NULL, NULL, &s));
    return ridge_weight_source_read(cx, s, (ridge_weight_name){"embedding", -1}, &g,
                                    NULL, out);
}

static ridge_status read_checkpoint(ridge_ctx *cx, const world *w)
{
    const ridge_checkpoint_reader *r;
    float out[4];
    const ridge_checkpoint_part want = {.name = "w",
                                        .layer = -1,
                                        .element = RIDGE_ELEMENT_F32,
                                        .region =
                                            ridge_region_whole(2, (int64_t[]){2, 2})};
    RIDGE_TRY(ridge_checkpoint_reader_open(cx, w->run, &r));
    return ridge_checkpoint_reader_read(cx, r, &want, out);
}

typedef ridge_status work_fn(ridge_ctx *cx, const world *w);

/* Budgets that grow by a twentieth, from next to nothing. */
static void assert_status_until_enough(const world *w, work_fn *work)
{
    size_t budget = 64;
    for (int i = 0; i < STEPS * 4 && budget < MOST_BYTES; i++) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        assert_non_null(cx);
        const ridge_status st = work(cx, w);
        if (st != RIDGE_OK && st != RIDGE_E_NOMEM)
            fail_msg("with %zu bytes: %s", budget, ridge_ctx_message(cx));
        ridge_ctx_close(cx);
        budget += budget / 20 + 8;
    }
    ridge_ctx *cx = ridge_ctx_open_budget(MOST_BYTES);
    assert_done(cx, work(cx, w));
    ridge_ctx_close(cx);
}

static void short_memory_is_a_status_of_text(void **state)
{
    assert_status_until_enough(*state, read_text);
}

static void short_memory_is_a_status_of_weights(void **state)
{
    assert_status_until_enough(*state, read_weights);
}

static void short_memory_is_a_status_of_checkpoints(void **state)
{
    assert_status_until_enough(*state, read_checkpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_memory_is_a_status_of_text),
        cmocka_unit_test(short_memory_is_a_status_of_weights),
        cmocka_unit_test(short_memory_is_a_status_of_checkpoints),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
