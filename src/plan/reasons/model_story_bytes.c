/* Derivations of a model's bytes: its checkpoint, its state in training, what the
 * backward pass keeps of a token, and what generation does. */
#include "model_story.h"

#define EXACT(x) ridge_format_exact(x).s
#define BYTES(x) ridge_format_bytes(x).s

/* ---- weights --------------------------------------------------------------------- */

static void tell_quantised(model_story *s, int depth)
{
    static const char *const parts[RIDGE_QUANT_PART_COUNT] = {
        [RIDGE_QUANT_ATTENTION] = "attention",
        [RIDGE_QUANT_DENSE] = "dense feed-forwards",
        [RIDGE_QUANT_SHARED] = "shared experts",
        [RIDGE_QUANT_EXPERTS] = "experts",
        [RIDGE_QUANT_HEAD] = "unembedding"};
    for (int i = 0; i < RIDGE_QUANT_PART_COUNT; i++) {
        const double bits = s->model->quant_bits[i];
        if (bits > 0)
            model_story_add(s, depth, parts[i], "bits of a weight, scales among them",
                            ridge_format_double(bits).s, "%s",
                            s->model->quant_method ? s->model->quant_method : "");
    }
}

void model_story_weights(model_story *s, int depth)
{
    static const ridge_dtype shown[] = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_BF16,
                                        RIDGE_DTYPE_FP8, RIDGE_DTYPE_INT4};
    const double bytes = ridge_model_weight_bytes(s->model);
    model_story_add(
        s, depth, "weights", "sum over weights of elements x bytes of their format",
        BYTES(bytes), "%s parameters, %s bytes each on average", EXACT(s->params.total),
        ridge_format_double(bytes / (double)s->params.total).s);
    model_story_add(s, depth + 1, "what is not quantised", "bytes of its format",
                    ridge_format_double(ridge_dtype_bytes(s->model->rest_dtype)).s,
                    "%s", ridge_dtype_text(s->model->rest_dtype));
    tell_quantised(s, depth + 1);
    for (size_t i = 0; i < RIDGE_COUNT_OF(shown); i++)
        model_story_add(s, depth + 1, ridge_dtype_text(shown[i]),
                        "not in the sum: every weight in this format",
                        BYTES(ridge_model_weight_bytes_as(s->model, shown[i])),
                        "%s x %s", EXACT(s->params.total),
                        ridge_format_double(ridge_dtype_bytes(shown[i])).s);
}

/* ---- training -------------------------------------------------------------------- */

void model_story_training(model_story *s, int depth)
{
    model_story_add(s, depth, "training",
                    "parameters x bytes of weight, gradient, master copy and moments",
                    "", "%s parameters", EXACT(s->params.total));
    for (int i = 0; i < RIDGE_PRECISION_COUNT; i++) {
        const ridge_policy *p = ridge_precision_policy((ridge_precision)i);
        const double each =
            p->weight_bytes + p->gradient_bytes + p->master_bytes + p->moment_bytes;
        model_story_add(s, depth + 1, p->text, p->what,
                        BYTES(each * (double)s->params.total),
                        "%s x (%s + %s + %s + %s)", EXACT(s->params.total),
                        ridge_format_double(p->weight_bytes).s,
                        ridge_format_double(p->gradient_bytes).s,
                        ridge_format_double(p->master_bytes).s,
                        ridge_format_double(p->moment_bytes).s);
    }
}

static double policy_bytes(const ridge_model *model, ridge_remat remat)
{
    double bytes = 0;
    for (int k = 0; k < model->n_layers; k++) {
        const ridge_layer *l = &model->layers[k];
        bytes +=
            (double)l->count * ridge_layer_activation_bytes(model, l, remat, 1, false);
    }
    return bytes;
}

/* What each policy keeps, in letters of the policies. */
static void tell_saved(model_story *s, int depth, const ridge_layer *l)
{
    ridge_saved saved[RIDGE_SAVED_MAX];
    const int n = ridge_layer_saved(s->model, l, saved);
    for (int i = 0; i < n; i++) {
        char kept[128] = "";
        size_t at = 0;
        for (int r = 0; r < RIDGE_REMAT_COUNT; r++) {
            if ((saved[i].kept_by & (1u << r)) != 0)
                at += (size_t)snprintf(kept + at, sizeof kept - at, "%s%s",
                                       at > 0 ? ", " : "",
                                       ridge_remat_text((ridge_remat)r));
        }
        model_story_add(s, depth, saved[i].name,
                        "elements of a token x bytes, in one layer",
                        BYTES(saved[i].width * saved[i].bytes_per_element),
                        "%s x %s; kept by %s", EXACT((int64_t)saved[i].width),
                        ridge_format_double(saved[i].bytes_per_element).s,
                        at > 0 ? kept : "none of the policies");
    }
}

void model_story_activations(model_story *s, int depth)
{
    model_story_add(s, depth, "activations",
                    "of a token: what each remat policy keeps, over all layers", "",
                    "%s layers, 2-byte activations, flash attention",
                    EXACT(s->model->layer_count));
    for (int r = 0; r < RIDGE_REMAT_COUNT; r++) {
        const ridge_remat remat = (ridge_remat)r;
        const double again =
            ridge_model_flops_remat(s->model, s->seq_tokens, true, remat);
        model_story_add(s, depth + 1, ridge_remat_text(remat), ridge_remat_what(remat),
                        BYTES(policy_bytes(s->model, remat)), "computes %s again",
                        ridge_format_si(again, "FLOP").s);
    }
    for (int k = 0; k < s->model->n_layers && k < 3; k++) {
        char name[48];
        snprintf(name, sizeof name, "layer kind %d of %d", k + 1, s->model->n_layers);
        model_story_add(s, depth + 1, name, "arrays that its backward pass needs", "",
                        "%s layers", EXACT(s->model->layers[k].count));
        tell_saved(s, depth + 2, &s->model->layers[k]);
    }
}

/* ---- generation ------------------------------------------------------------------ */

static void tell_kv(model_story *s, int depth, int kind)
{
    const ridge_model one = model_story_kind(s, kind);
    const ridge_layer *l = one.layers;
    const ridge_mixer *m = &l->mixer;
    const ridge_kv kv = ridge_model_kv(&one, RIDGE_DTYPE_BF16);
    const char *mixer = ridge_mixer_kind_text(m->kind);
    if (l->is_encoder)
        return;
    if (kv.bytes_per_token <= 0)
        model_story_add(s, depth, mixer, "nothing that grows with the context",
                        BYTES(0.0), "a state of %s a sequence, %s layers",
                        BYTES(kv.state_bytes_per_sequence), EXACT(l->count));
    else if (m->kind == RIDGE_MIXER_MLA)
        model_story_add(
            s, depth, mixer, "(latent + rotary + index) x bytes, in every layer",
            BYTES(kv.bytes_per_token), "(%s + %s + %s) x 2 x %s layers",
            EXACT(m->kv_lora_rank), EXACT(m->rope_head_dim),
            EXACT(m->index_heads > 0 ? m->index_head_dim : 0), EXACT(l->count));
    else
        model_story_add(s, depth, mixer, "K (H + Hv) x bytes, in every layer",
                        BYTES(kv.bytes_per_token), "%s x (%s + %s) x 2 x %s layers%s%s",
                        EXACT(m->kv_heads), EXACT(m->head_dim),
                        EXACT(m->v_head_dim > 0 ? m->v_head_dim : m->head_dim),
                        EXACT(l->count), m->window > 0 ? "; only to a window of " : "",
                        m->window > 0 ? EXACT(m->window) : "");
}

void model_story_kv(model_story *s, int depth)
{
    const ridge_kv kv = ridge_model_kv(s->model, RIDGE_DTYPE_BF16);
    model_story_add(s, depth, "kv", "of a token in bf16: sum over layers",
                    BYTES(kv.bytes_per_token), "%s layers",
                    EXACT(s->model->layer_count));
    for (int k = 0; k < s->model->n_layers; k++)
        tell_kv(s, depth + 1, k);
    if (kv.bytes_per_token_long < kv.bytes_per_token)
        model_story_add(s, depth + 1, "with all windows full",
                        "not in the sum: one more token of a long context",
                        BYTES(kv.bytes_per_token_long), "%s",
                        "layers with a window add none");
    model_story_add(
        s, depth + 1, "a sequence", "not in the sum: of that many tokens",
        BYTES(ridge_model_kv_bytes(s->model, RIDGE_DTYPE_BF16, s->seq_tokens, false)),
        "%s tokens, states of %s among it", EXACT((int64_t)s->seq_tokens),
        BYTES(kv.state_bytes_per_sequence));
}
