/* Plan of a measured row: the knobs that it states; the others are left to the search,
 * which then stands for the practice of whoever measured it. */
#include "measured_row.h"
#include "measured_words.h"

#include <math.h>
#include <string.h>

static void read_degrees(const measured_row *row, const ridge_model *model,
                         measured_gaps *gaps, ridge_knobs *k)
{
    const struct {
        const char *key;
        int64_t *field;
        bool is_one_when_absent;
    } degrees[] = {
        {"tp", &k->tp, false},  {"cp", &k->cp, true},
        {"pp", &k->pp, false},  {"ep", &k->ep, false},
        {"vpp", &k->vpp, true}, {"microbatch_seqs", &k->microbatch_seqs, false},
    };
    bool is_moe = ridge_model_has_experts(model);
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (measured_count(&row->plan, degrees[i].key, degrees[i].field))
            continue;
        if (degrees[i].is_one_when_absent) {
            *degrees[i].field = 1;
        } else if (degrees[i].field != &k->ep || is_moe) {
            measured_assume(gaps, degrees[i].key);
        }
    }
    if (k->vpp > 1 && k->pp == 1)
        k->vpp = 1;
    if (!is_moe)
        k->ep = 1;
}

/* The first whole number in "fsdp over 256 chips per slice"; 0: none. */
static int64_t number_over(const char *text)
{
    const char *at = strstr(text, "over ");
    if (at == NULL)
        return 0;
    ridge_str rest = ridge_str_of(at + strlen("over "));
    ridge_str word = ridge_str_cut(&rest, ' ');
    int64_t v;
    return ridge_parse_i64(word, &v) && v > 0 ? v : 0;
}

int64_t measured_data_ranks(const ridge_knobs *k, const ridge_slice *slice)
{
    const int64_t data = slice->chips / (k->tp > 0 ? k->tp : 1) /
                         (k->pp > 0 ? k->pp : 1) / (k->cp > 0 ? k->cp : 1);
    return data > 0 ? data : 1;
}

/* Ranks that share one copy of the state. "cores" of TPUs come two to a chip. */
static void read_sharding(const measured_row *row, const ridge_slice *slice,
                          measured_gaps *gaps, ridge_knobs *k)
{
    const char *text = measured_text(&row->plan, "fsdp_or_zero_stage");
    const int64_t data = measured_data_ranks(k, slice);
    if (text == NULL || k->tp <= 0 || k->pp <= 0) {
        if (data > 1)
            measured_assume(gaps, "sharding");
        return;
    }
    int zero;
    if (strstr(text, "no fsdp") != NULL) {
        /* Weights are whole, but optimizers of such frameworks are sharded as a rule.
         */
        measured_assume(gaps, "optimizer sharding");
        text = "zero-1";
    }
    if (!measured_zero_word(text, &zero)) {
        measured_assume(gaps, "sharding");
        return;
    }
    int64_t shards = number_over(text);
    if (strstr(text, "cores") != NULL)
        shards /= 2;
    if (measured_is_hybrid(text))
        shards = slice->system->chips_per_node;
    if (shards <= 0 || shards > data || data % shards != 0)
        shards = data;
    k->fsdp = zero == 0 ? 1 : shards;
    k->dp = data / k->fsdp;
    k->zero_stage = k->fsdp == 1 && k->cp <= 1 ? 0 : zero;
}

static ridge_status read_policies(ridge_ctx *cx, const measured_row *row,
                                  measured_gaps *gaps, ridge_knobs *k)
{
    int value = 0;
    const char *text = measured_text(&row->plan, "remat");
    if (measured_remat_word(text, &value))
        k->remat = value;
    if (text == NULL || strstr(text, "custom") != NULL ||
        strstr(text, "offload") != NULL || k->remat < 0)
        measured_assume(gaps, "remat");
    text = measured_text(&row->plan, "precision");
    if (measured_precision_word(text, &value)) {
        k->precision = (ridge_precision)value;
    } else if (text != NULL) {
        return ridge_fail(cx, RIDGE_E_ARG, "its precision, %.60s, is not known", text);
    } else {
        measured_assume(gaps, "precision");
    }
    /* The degree of SP, or whether it was on; seldom said, and then left free. */
    int64_t sp;
    bool is_on;
    if (k->tp > 1 && measured_count(&row->plan, "sp", &sp))
        k->has_sp = sp > 1 ? 1 : 0;
    else if (k->tp > 1 && ridge_json_bool(ridge_json_get(&row->plan, "sp"), &is_on))
        k->has_sp = is_on ? 1 : 0;
    return RIDGE_OK;
}

/* What runs behind compute, where the row says so. */
static void read_overlaps(const measured_row *row, ridge_knobs *k)
{
    for (int i = 0; i < RIDGE_OVERLAP_COUNT; i++) {
        const char *key = ridge_overlap_kind_text((ridge_overlap_kind)i);
        bool is_on;
        if (ridge_json_bool(ridge_json_get(&row->plan, key), &is_on))
            k->overlap[i] = is_on ? 1 : 0;
    }
}

/* Without a global batch: one microbatch on each replica. */
static ridge_status read_batch(ridge_ctx *cx, const measured_row *row,
                               measured_gaps *gaps, ridge_train_request *r)
{
    int64_t seqs;
    const ridge_knobs *k = &r->knobs;
    if (!measured_count(&row->plan, "global_batch_seqs", &seqs)) {
        if (k->microbatch_seqs == 0 || k->tp == 0 || k->pp == 0 || k->pp > 1)
            return ridge_fail(cx, RIDGE_E_ARG, "the global batch is not stated");
        seqs = k->microbatch_seqs * (r->slice->chips / k->tp / (k->cp > 0 ? k->cp : 1));
        measured_assume(gaps, "no gradient accumulation");
    }
    r->batch_tokens = (double)seqs * r->seq_tokens;
    return RIDGE_OK;
}

/* Which weights are trained, and on what: adapters beside frozen weights, and documents
 * that see themselves alone. */
static ridge_status read_training(ridge_ctx *cx, const measured_row *row,
                                  ridge_train_request *r)
{
    const char *tuning = measured_text(&row->plan, "tuning");
    const char *targets = measured_text(&row->plan, "lora_targets");
    int optimizer;
    ridge_length fixed = {.kind = RIDGE_LENGTH_FIXED};
    if (tuning != NULL && strstr(tuning, "LoRA") != NULL) {
        r->knobs.optimizer = RIDGE_OPTIMIZER_LORA;
        if (!measured_count(&row->plan, "lora_rank", &r->knobs.lora.rank))
            r->knobs.lora.rank = 0;
        if (targets != NULL)
            RIDGE_TRY(ridge_lora_parse(cx, targets, &r->knobs.lora.targets));
    } else if (measured_optimizer_word(measured_text(&row->plan, "optimizer"),
                                       &optimizer)) {
        r->knobs.optimizer = (ridge_optimizer)optimizer;
    }
    if (!measured_number(&row->plan, "documents", &fixed.mean))
        return RIDGE_OK;
    return ridge_documents_of(cx, &fixed, r->seq_tokens, &r->documents);
}

ridge_status measured_request(ridge_ctx *cx, const measured_row *row,
                              measured_gaps *gaps, ridge_train_request *r)
{
    r->knobs = ridge_knobs_free();
    r->top = 1;
    if (!measured_number(&row->plan, "seq_len", &r->seq_tokens)) {
        if (r->seq_tokens < 1)
            return ridge_fail(cx, RIDGE_E_ARG, "the sequence length is not stated");
        measured_assume(gaps, "sequences as long as the model's context");
    }
    read_degrees(row, r->model, gaps, &r->knobs);
    read_sharding(row, r->slice, gaps, &r->knobs);
    RIDGE_TRY(read_batch(cx, row, gaps, r));
    RIDGE_TRY(read_training(cx, row, r));
    read_overlaps(row, &r->knobs);
    return read_policies(cx, row, gaps, &r->knobs);
}

const char *measured_plan_words(ridge_ctx *cx, const measured_row *row)
{
    static const char *const keys[] = {"remat",    "precision", "fsdp_or_zero_stage",
                                       "schedule", "optimizer", "tuning"};
    ridge_buf words;
    ridge_buf_init(&words, ridge_ctx_arena(cx));
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys); i++) {
        const char *text = measured_text(&row->plan, keys[i]);
        ridge_buf_printf(&words, "%s|", text == NULL ? "" : text);
    }
    return ridge_buf_text(&words);
}

const char *measured_format(const measured_row *row)
{
    const char *text = measured_text(&row->plan, "precision");
    int value;
    if (text == NULL || strchr(text, ' ') != NULL ||
        !measured_precision_word(text, &value))
        return text == NULL ? "" : text;
    return ridge_precision_policy((ridge_precision)value)->text;
}
