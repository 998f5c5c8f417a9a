/* What the readers of all engines share. */
#include "server_read.h"

#include <inttypes.h>
#include <string.h>

static const int64_t MOST = 100000000;

ridge_status server_read_count(server_reader *r, launch_field field, int64_t otherwise,
                               int64_t *out)
{
    const launch_setting *s = r->sheet.given[field];
    *out = otherwise;
    if (r->dialect == SERVER_DIALECT_VLLM && s != NULL && s->value != NULL &&
        server_human_count(s->value, out) && *out <= MOST)
        return RIDGE_OK;
    if (launch_sheet_has(&r->sheet, field))
        return launch_sheet_i64(&r->sheet, field, 1, MOST, out);
    launch_notes_add(r->cx, &r->launch->assumed, "%s %" PRId64 ", of %s",
                     launch_sheet_name(&r->sheet, field), otherwise, r->engine->name);
    return RIDGE_OK;
}

void server_read_note(server_reader *r, launch_field field, const char *effect)
{
    const launch_setting *s = r->sheet.given[field];
    launch_notes_add(r->cx, &r->launch->differing, "%s:%d: %s %.60s: %s", r->sheet.file,
                     s == NULL ? r->server->line : s->line,
                     launch_sheet_name(&r->sheet, field),
                     s == NULL || s->value == NULL ? "" : s->value, effect);
}

/* ---- formats --------------------------------------------------------------------- */

static ridge_status read_quantisation(server_reader *r)
{
    const char *word = "";
    ridge_serving_formats got = r->layout->formats;
    if (!launch_sheet_has(&r->sheet, LAUNCH_QUANT))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_QUANT, &word));
    const bool is_known =
        server_formats_quantise(r->dialect, word, r->query->slice, &got);
    const bool has_experts = ridge_model_has_experts(r->model);
    const ridge_dtype own =
        has_experts ? r->layout->formats.expert : r->layout->formats.weight;
    if (r->model->quant_method != NULL && (!is_known || got.expert == own))
        return RIDGE_OK; /* the checkpoint's own */
    if (!is_known) {
        server_read_note(r, LAUNCH_QUANT, "not known; priced as the checkpoint is");
        return RIDGE_OK;
    }
    r->layout->formats = got;
    return RIDGE_OK;
}

static ridge_status read_width(server_reader *r)
{
    const char *word = "auto";
    ridge_dtype dtype = r->layout->formats.activation;
    ridge_serving_formats *f = &r->layout->formats;
    if (!launch_sheet_has(&r->sheet, LAUNCH_COMPUTE_DTYPE))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_COMPUTE_DTYPE, &word));
    if (!server_cache_parse(word, &dtype)) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_COMPUTE_DTYPE,
                                 "'%.40s': expected auto, bfloat16, float16 or float32",
                                 word);
    }
    const ridge_dtype was = f->activation;
    ridge_dtype *const all[] = {&f->weight,         &f->expert, &f->compute,
                                &f->expert_compute, &f->cache,  &f->activation,
                                &f->attention};
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++)
        *all[i] = *all[i] == was ? dtype : *all[i];
    return RIDGE_OK;
}

static ridge_status read_cache(server_reader *r)
{
    static const launch_field fields[] = {LAUNCH_CACHE_QUANT, LAUNCH_CACHE_DTYPE};
    for (size_t i = 0; i < RIDGE_COUNT_OF(fields); i++) {
        const char *word = "auto";
        if (!launch_sheet_has(&r->sheet, fields[i]))
            continue;
        RIDGE_TRY(launch_sheet_text(&r->sheet, fields[i], &word));
        if (!server_cache_parse(word, &r->layout->formats.cache)) {
            return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, fields[i],
                                     "'%.40s' is no format of a cache: expected auto, "
                                     "fp8, bfloat16, int8 or nvfp4",
                                     word);
        }
    }
    return RIDGE_OK;
}

/* ---- limits and switches --------------------------------------------------------- */

static ridge_status read_switch(server_reader *r, launch_field on, launch_field off,
                                bool *out)
{
    bool is_off = false;
    if (launch_sheet_has(&r->sheet, on) ||
        (r->sheet.given[on] != NULL && r->sheet.given[on]->value == NULL))
        RIDGE_TRY(launch_sheet_flag(&r->sheet, on, out));
    if (r->sheet.given[off] == NULL)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_flag(&r->sheet, off, &is_off));
    if (is_off)
        *out = false;
    return RIDGE_OK;
}

static ridge_status read_graphs(server_reader *r)
{
    bool is_eager = false;
    double most = r->engine->graph_sequences;
    if (r->sheet.given[LAUNCH_NO_GRAPHS] != NULL)
        RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_NO_GRAPHS, &is_eager));
    if (launch_sheet_has(&r->sheet, LAUNCH_GRAPH_SEQS))
        RIDGE_TRY(launch_sheet_double(&r->sheet, LAUNCH_GRAPH_SEQS, 0, 1e6, &most));
    r->engine->graph_sequences = is_eager ? 0 : most;
    return RIDGE_OK;
}

static ridge_status read_context(server_reader *r)
{
    int64_t longest = r->model->max_positions;
    server_read_overrides(r, &longest);
    const bool has_default = r->dialect == SERVER_DIALECT_MAXTEXT;
    const launch_setting *s = r->sheet.given[LAUNCH_CONTEXT];
    const bool is_auto = s != NULL && s->value != NULL &&
                         (strcmp(s->value, "auto") == 0 || strcmp(s->value, "-1") == 0);
    if (launch_sheet_has(&r->sheet, LAUNCH_CONTEXT) && !is_auto) {
        int64_t count = 0;
        if (server_human_count(s->value, &count) && count <= MOST)
            longest = count;
        else
            RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_CONTEXT, 1, MOST, &longest));
    } else if (has_default) {
        RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_CONTEXT, 1, MOST, &longest));
    } else if (longest > 0) {
        launch_notes_add(r->cx, &r->launch->assumed, "%s %" PRId64 ", of the model",
                         launch_sheet_name(&r->sheet, LAUNCH_CONTEXT), longest);
    }
    r->deployment->longest_tokens = (double)longest;
    return RIDGE_OK;
}

ridge_status server_read_common(server_reader *r)
{
    RIDGE_TRY(read_width(r));
    RIDGE_TRY(read_quantisation(r));
    RIDGE_TRY(read_cache(r));
    RIDGE_TRY(read_context(r));
    if (launch_sheet_has(&r->sheet, LAUNCH_CACHE_BLOCK))
        RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_CACHE_BLOCK, 1, 1 << 20,
                                   &r->engine->block_tokens));
    RIDGE_TRY(read_switch(r, LAUNCH_PREFIX_CACHE, LAUNCH_NO_PREFIX_CACHE,
                          &r->engine->has_prefix_cache));
    RIDGE_TRY(
        read_switch(r, LAUNCH_CHUNKED, LAUNCH_NO_CHUNKED, &r->engine->is_chunked));
    return read_graphs(r);
}

ridge_status server_read_share(server_reader *r)
{
    if (!launch_sheet_has(&r->sheet, LAUNCH_MEMORY_SHARE))
        return RIDGE_OK;
    return launch_sheet_double(&r->sheet, LAUNCH_MEMORY_SHARE, 0.01, 1,
                               &r->engine->memory_share);
}

/* ---- degrees and drafts ---------------------------------------------------------- */

ridge_status server_read_split(server_reader *r)
{
    int64_t split = 1;
    const int64_t heads = server_kv_heads(r->model);
    ridge_serving_layout *l = r->layout;
    l->kv_cut = RIDGE_KV_CUT_HEADS;
    RIDGE_TRY(launch_sheet_want(&r->sheet, LAUNCH_KV_SPLIT, &split));
    if (split <= 1)
        return RIDGE_OK;
    if (heads == 0 || l->tp % split != 0 || l->tp / split > heads) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_KV_SPLIT,
                                 "%" PRId64 " does not divide the %" PRId64
                                 " ranks that share %" PRId64 " KV heads: use %" PRId64,
                                 split, l->tp, heads,
                                 heads > 0 && l->tp > heads ? l->tp / heads : 1);
    }
    if (l->tp / split != heads)
        server_read_note(r, LAUNCH_KV_SPLIT,
                         "priced as over all ranks beyond the "
                         "KV heads");
    l->kv_cut = RIDGE_KV_CUT_SEQUENCE;
    return RIDGE_OK;
}

/* TensorRT-LLM states all slots, the others those beyond the experts. vLLM and SGLang
 * have copies, placed by load, where their balancer is on. */
ridge_status server_read_copies(server_reader *r)
{
    const bool states_slots = r->server->launcher == RIDGE_SERVING_LAUNCHER_TRTLLM;
    const int64_t experts = server_experts(r->model);
    bool is_on = states_slots && launch_sheet_has(&r->sheet, LAUNCH_REPLICAS);
    int64_t stated = states_slots ? experts : 0;
    RIDGE_TRY(launch_sheet_i64(&r->sheet, LAUNCH_REPLICAS, 0, MOST, &stated));
    if (!states_slots)
        RIDGE_TRY(launch_sheet_flag(&r->sheet, LAUNCH_HAS_REPLICAS, &is_on));
    const int64_t copies = states_slots ? stated - experts : stated;
    if (experts == 0 || r->layout->ep == 1)
        return RIDGE_OK;
    if (is_on && copies == 0 && !states_slots)
        server_read_note(r, LAUNCH_HAS_REPLICAS,
                         "experts move to where loads are even; priced as they are "
                         "dealt");
    if (copies < 0)
        return launch_sheet_fail(&r->sheet, RIDGE_E_ARG, LAUNCH_REPLICAS,
                                 "%" PRId64 " slots are fewer than %" PRId64 " experts",
                                 stated, experts);
    r->layout->redundant_experts = is_on ? copies : 0;
    return RIDGE_OK;
}

ridge_status server_read_draft_model(server_reader *r)
{
    const char *name = NULL;
    RIDGE_TRY(launch_sheet_text(&r->sheet, LAUNCH_DRAFT_MODEL, &name));
    if (name == NULL) {
        return launch_sheet_fail(&r->sheet, RIDGE_E_PARSE, LAUNCH_DRAFT_MODEL,
                                 "the model that drafts is not stated");
    }
    r->deployment->draft_name = name;
    const ridge_status st =
        ridge_model_load(r->cx, r->query->library, name, &r->layout->draft.model);
    if (st == RIDGE_OK)
        return RIDGE_OK;
    const char *why =
        ridge_str_dup(ridge_ctx_arena(r->cx), ridge_str_of(ridge_ctx_message(r->cx)));
    return launch_sheet_fail(&r->sheet, st, LAUNCH_DRAFT_MODEL, "%s",
                             why == NULL ? "unknown model" : why);
}
