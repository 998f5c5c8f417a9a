/* TGI's options as a pool: one degree, its shards, and the waiting of its prompts.
 * @source tgi-source-2024, launcher.md and launcher/src/main.rs */
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST = 1000000;

/* Devices of CUDA_VISIBLE_DEVICES, which is all that the launcher looks at. */
static int64_t visible_devices(const server_reader *r)
{
    const launch_setting *s = r->sheet.given[LAUNCH_VISIBLE];
    int64_t n = 1;
    for (const char *p = s == NULL ? NULL : s->value; p != NULL && *p != '\0'; p++)
        n += *p == ',' ? 1 : 0;
    return n;
}

static ridge_status read_shards(server_reader *r)
{
    int64_t *tp = &r->layout->tp;
    const launch_setting *sharded = r->sheet.given[LAUNCH_SHARDED];
    const bool is_whole = sharded != NULL && sharded->value != NULL &&
                          strcmp(sharded->value, "false") == 0;
    if (launch_sheet_has(&r->sheet, LAUNCH_TP)) {
        RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_TP, 1, MOST, tp));
        if (!is_whole || *tp == 1)
            return RIDGE_OK;
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_TP,
                                 "%" PRId64 " contradicts --sharded false", *tp);
    }
    *tp = is_whole ? 1 : visible_devices(r);
    if (r->sheet.given[LAUNCH_VISIBLE] == NULL && !is_whole)
        launch_notes_add(r->cx, &r->launch->assumed,
                         "num-shard 1, as TGI has it without CUDA_VISIBLE_DEVICES");
    return RIDGE_OK;
}

/* Requests that the router takes, of which a batch may hold fewer. */
static ridge_status read_limits(server_reader *r)
{
    ridge_serving_layout *l = r->layout;
    int64_t batch = MOST;
    int64_t prompt = 0;
    RIDGE_TRY(
        server_read_count(r, LAUNCH_SEQUENCES, r->engine->sequences, &l->sequences));
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_BATCH, &batch));
    if (batch >= 1 && batch < l->sequences)
        l->sequences = batch;
    RIDGE_TRY(server_read_count(r, LAUNCH_BUDGET, r->engine->budget_tokens,
                                &l->budget_tokens));
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_PROMPT, &prompt));
    r->deployment->prompt_tokens = (double)prompt;
    return RIDGE_OK;
}

static ridge_status read_waiting(server_reader *r)
{
    if (launch_sheet_has(&r->sheet, LAUNCH_WAITING_SHARE))
        RIDGE_TRY(launch_sheet_double(&r->sheet, LAUNCH_WAITING_SHARE, 0, 1e6,
                                      &r->engine->waiting_share));
    return launch_sheet_want(&r->sheet, LAUNCH_WAITING_STEPS,
                             &r->engine->waiting_steps);
}

/* "1,2,4,8": the largest is what counts; 0: none. */
static ridge_status read_sizes(server_reader *r)
{
    const char *word = NULL;
    int64_t most = 0;
    if (!launch_sheet_has(&r->sheet, LAUNCH_GRAPH_SIZES))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_GRAPH_SIZES, &word));
    ridge_str rest = ridge_str_of(word);
    while (rest.p != NULL) {
        int64_t one = 0;
        if (!ridge_parse_i64(ridge_str_cut(&rest, ','), &one) || one < 0 || one > MOST)
            return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_GRAPH_SIZES,
                                     "'%.40s': expected counts of sequences, as 1,2,4",
                                     word);
        most = one > most ? one : most;
    }
    r->engine->graph_sequences = (double)most;
    return RIDGE_OK;
}

/* The fraction is of all memory, of which TGI leaves some free itself. */
static ridge_status read_memory(server_reader *r)
{
    double fraction = 1;
    if (!launch_sheet_has(&r->sheet, LAUNCH_MEMORY_SHARE))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_double(&r->sheet, LAUNCH_MEMORY_SHARE, 0.01, 1, &fraction));
    r->engine->memory_share *= fraction;
    return RIDGE_OK;
}

/* Medusa's heads where the checkpoint has some, else what stood before in the text. */
static ridge_status read_speculation(server_reader *r)
{
    const launch_setting *s = r->sheet.given[LAUNCH_DRAFT_DEPTH];
    ridge_draft *d = &r->layout->draft;
    if (!launch_sheet_has(&r->sheet, LAUNCH_DRAFT_DEPTH) || strcmp(s->value, "0") == 0)
        return RIDGE_OK;
    const launch_setting *model = r->sheet.given[LAUNCH_MODEL_NAME];
    const bool is_medusa =
        model != NULL && model->value != NULL && strstr(model->value, "medusa") != NULL;
    d->kind = is_medusa ? RIDGE_DRAFT_MEDUSA : RIDGE_DRAFT_NGRAM;
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_DRAFT_DEPTH, 1, RIDGE_DRAFT_DEPTH_MAX,
                               &d->depth));
    d->nodes = d->depth;
    if (!is_medusa)
        launch_notes_add(r->cx, &r->launch->assumed,
                         "speculate %" PRId64 ": n-grams, as for models without "
                         "Medusa's heads",
                         d->depth);
    return RIDGE_OK;
}

ridge_status server_tgi_read(server_reader *r)
{
    RIDGE_TRY(server_read_common(r));
    RIDGE_TRY(read_shards(r));
    RIDGE_TRY(read_memory(r));
    RIDGE_TRY(read_limits(r));
    RIDGE_TRY(read_waiting(r));
    RIDGE_TRY(read_sizes(r));
    return read_speculation(r);
}
