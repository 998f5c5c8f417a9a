/* Programs against closed forms, for every model of the catalogue and every published
 * config: weights, forward FLOPs by part, training, caches. */
#include "program_fixture.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

enum { SEQUENCES = 3, TOKENS = 4096, SHORT_TOKENS = 48 };
static const double EXACT = 1e-9; /* sums in another order */

/* ---- every model ----------------------------------------------------------------- */

typedef int check_fn(ridge_ctx *cx, const ridge_model *model);

static int over_catalogue(ridge_ctx *cx, check_fn *check)
{
    const ridge_library *library = NULL;
    int wrong = 0;
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        const ridge_model *model = NULL;
        assert_ok(
            cx, ridge_model_load(cx, library, ridge_library_name(library, i), &model));
        wrong += check(cx, model);
    }
    assert_true(ridge_library_count(library) > 100);
    return wrong;
}

static int over_configs(ridge_ctx *cx, check_fn *check)
{
    static const char FOLDER[] = RIDGE_TEST_DIR "/golden/model-configs";
    DIR *folder = opendir(FOLDER);
    int wrong = 0, n = 0;
    assert_non_null(folder);
    for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        const ridge_model *model = NULL;
        ridge_node root;
        if (strstr(e->d_name, ".json") == NULL)
            continue;
        const char *path =
            ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", FOLDER, e->d_name);
        assert_ok(cx, ridge_json_read(cx, path, &root));
        assert_ok(cx, ridge_model_from_config(cx, root, path, &model));
        wrong += check(cx, model);
        n++;
    }
    closedir(folder);
    assert_true(n > 80);
    return wrong;
}

static int compare(const ridge_model *model, const char *what, double got, double want)
{
    if (fabs(got - want) <= EXACT * fabs(want))
        return 0;
    print_error("%s: %s is %.15g, the closed form %.15g\n", model->name, what, got,
                want);
    return 1;
}

static bool has_encoder(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].is_encoder)
            return true;
    }
    return false;
}

static bool has_decoder(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (!model->layers[i].is_encoder)
            return true;
    }
    return false;
}

/* The closed forms take every table to be as wide as the model; ALBERT's and
 * OPT-350M's are narrower and stand behind a map, which the program multiplies. */
static bool has_narrow_table(const ridge_model *model)
{
    return model->embedding_params / model->d_model < model->vocab;
}

/* ---- weights --------------------------------------------------------------------- */

static int check_weights(ridge_ctx *cx, const ridge_model *model)
{
    static const ridge_phase PHASES[] = {RIDGE_PHASE_TRAIN, RIDGE_PHASE_PREFILL,
                                         RIDGE_PHASE_DECODE};
    const double want = (double)ridge_model_params(model).total;
    int wrong = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(PHASES); i++) {
        /* Decoding does not hold the encoder. */
        if (PHASES[i] == RIDGE_PHASE_DECODE && has_encoder(model))
            continue;
        const ridge_program *p =
            fixture_lower(cx, model, PHASES[i], SEQUENCES, SHORT_TOKENS);
        const double got = ridge_program_weights(p);
        if (got < want || got > want) {
            print_error("%s %s: %.0f weights, the closed form %.0f\n", model->name,
                        ridge_phase_text(PHASES[i]), got, want);
            wrong++;
        }
    }
    return wrong;
}

static void weights_are_all_parameters(void **state)
{
    assert_int_equal(over_catalogue(*state, check_weights), 0);
    assert_int_equal(over_configs(*state, check_weights), 0);
}

/* ---- FLOPs ----------------------------------------------------------------------- */

static void add_op(const ridge_program *p, const ridge_operation *op, double repeat,
                   ridge_flops *f)
{
    const double flops = repeat * ridge_operation_count(p, op).matmul_flops;
    if (op->is_head) {
        f->unembedding += flops;
    } else if (op->code == RIDGE_OPCODE_ATTENTION || op->code == RIDGE_OPCODE_SCAN) {
        f->attention_scores += flops;
    } else if (op->part == RIDGE_PART_ATTENTION) {
        f->attention_projections += flops;
    } else if (op->part == RIDGE_PART_MLP) {
        f->mlp += flops;
    } else if (op->part == RIDGE_PART_ROUTER) {
        f->router += flops;
    } else if (op->part == RIDGE_PART_EXPERTS) {
        f->experts += flops;
    }
    f->total += flops;
}

/* FLOPs of a token, by part. */
static ridge_flops by_part(const ridge_program *p, double tokens)
{
    ridge_flops f = {0};
    for (int b = 0; b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        for (int i = 0; i < block->n_ops; i++) {
            add_op(p, &p->ops[block->first_op + i], (double)block->repeat / tokens, &f);
        }
    }
    return f;
}

static int compare_parts(const ridge_model *model, const ridge_flops *got,
                         const ridge_flops *want, double times)
{
    int wrong = compare(model, "projections", got->attention_projections,
                        times * want->attention_projections);
    wrong +=
        compare(model, "scores", got->attention_scores, times * want->attention_scores);
    wrong += compare(model, "mlp", got->mlp, times * want->mlp);
    wrong += compare(model, "router", got->router, times * want->router);
    wrong += compare(model, "experts", got->experts, times * want->experts);
    wrong += compare(model, "head", got->unembedding, times * want->unembedding);
    return wrong + compare(model, "total", got->total, times * want->total);
}

/* Forward once in prefill, three times in training. */
static int check_flops_at(ridge_ctx *cx, const ridge_model *model, int64_t tokens)
{
    const double all = (double)(SEQUENCES * tokens);
    const ridge_flops want = ridge_model_flops_forward(model, (double)tokens, true);
    if (has_narrow_table(model))
        return 0;
    const ridge_flops once =
        by_part(fixture_lower(cx, model, RIDGE_PHASE_PREFILL, SEQUENCES, tokens), all);
    const ridge_flops thrice =
        by_part(fixture_lower(cx, model, RIDGE_PHASE_TRAIN, SEQUENCES, tokens), all);
    return compare_parts(model, &once, &want, 1) +
           compare_parts(model, &thrice, &want, 3);
}

static int check_flops(ridge_ctx *cx, const ridge_model *model)
{
    return check_flops_at(cx, model, TOKENS) + check_flops_at(cx, model, SHORT_TOKENS);
}

static void flops_are_those_of_the_model_by_part(void **state)
{
    assert_int_equal(over_catalogue(*state, check_flops), 0);
    assert_int_equal(over_configs(*state, check_flops), 0);
}

/* One token against a context: the full square's average, but that absorbed latents
 * are met in their own width. */
static int check_decode(ridge_ctx *cx, const ridge_model *model)
{
    if (has_encoder(model) || has_narrow_table(model))
        return 0;
    const ridge_flops want = ridge_model_flops_forward(model, TOKENS, false);
    const ridge_flops got = by_part(
        fixture_lower(cx, model, RIDGE_PHASE_DECODE, SEQUENCES, TOKENS), SEQUENCES);
    double scores = 0;
    for (int i = 0; i < model->n_layers; i++) {
        ridge_layer layer = model->layers[i];
        ridge_mixer *m = &layer.mixer;
        const bool is_scan =
            m->kind != RIDGE_MIXER_ATTENTION && m->kind != RIDGE_MIXER_MLA;
        if (m->kind == RIDGE_MIXER_MLA && !m->is_latent_only) {
            m->head_dim = m->kv_lora_rank + m->rope_head_dim;
            m->v_head_dim = m->kv_lora_rank;
        }
        scores += (double)layer.count *
                  ridge_layer_scores_flops(&layer, is_scan ? 1 : TOKENS, false);
    }
    return compare(model, "decoding projections", got.attention_projections,
                   want.attention_projections) +
           compare(model, "decoding scores", got.attention_scores, scores) +
           compare(model, "decoding experts", got.experts, want.experts) +
           compare(model, "decoding head", got.unembedding, want.unembedding);
}

static void decoding_meets_the_whole_context(void **state)
{
    assert_int_equal(over_catalogue(*state, check_decode), 0);
    assert_int_equal(over_configs(*state, check_decode), 0);
}

/* ---- caches ---------------------------------------------------------------------- */

/* What the model layer leaves out: an encoder's keys and values for each decoder layer;
 * and what it counts more of: indexer keys of the window, which DeepSeek-V4 does not
 * compress and so does not keep. */
static double cache_difference(const ridge_model *model, double tokens, double bytes)
{
    double elements = 0;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        const ridge_mixer *m = &layer->mixer;
        const double count = (double)layer->count;
        if (layer->has_cross) {
            elements += count * tokens * (double)m->kv_heads *
                        (double)(m->head_dim + m->v_head_dim);
        }
        if (m->compress_ratio > 0 && m->index_heads > 0) {
            const double window =
                (double)m->window < tokens ? (double)m->window : tokens;
            elements -= count * window * (double)m->index_head_dim;
        }
    }
    return elements * bytes;
}

static int check_cache(ridge_ctx *cx, const ridge_model *model)
{
    const double bytes = ridge_dtype_bytes(RIDGE_DTYPE_BF16);
    if (!has_decoder(model))
        return 0;
    const ridge_program *prefill =
        fixture_lower(cx, model, RIDGE_PHASE_PREFILL, SEQUENCES, TOKENS);
    const ridge_program *decode =
        fixture_lower(cx, model, RIDGE_PHASE_DECODE, SEQUENCES, TOKENS);
    const double own = ridge_model_kv_bytes(model, RIDGE_DTYPE_BF16, TOKENS, false);
    const double want = SEQUENCES * (own + cache_difference(model, TOKENS, bytes));
    /* Prefill makes an encoder's keys; only decoding keeps them. */
    const double made = has_encoder(model) ? SEQUENCES * own : want;
    return compare(model, "prefill's cache", fixture_bytes(prefill, RIDGE_ROLE_CACHE),
                   made) +
           compare(model, "cache", fixture_bytes(decode, RIDGE_ROLE_CACHE), want);
}

static void caches_are_those_of_the_model(void **state)
{
    assert_int_equal(over_catalogue(*state, check_cache), 0);
    assert_int_equal(over_configs(*state, check_cache), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_are_all_parameters, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(flops_are_those_of_the_model_by_part,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(decoding_meets_the_whole_context, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(caches_are_those_of_the_model, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
