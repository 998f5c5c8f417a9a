#include "train_fixture.h"

#include <math.h>

dice dice_of(uint64_t seed)
{
    dice d = {seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du};
    for (int i = 0; i < 4; i++) /* neighbouring seeds start alike */
        dice_roll(&d, 0, 1);
    return d;
}

int64_t dice_roll(dice *d, int64_t low, int64_t high)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return low + (int64_t)(d->state % (uint64_t)(high - low + 1));
}

double dice_between(dice *d, double low, double high)
{
    return low + (high - low) * (double)dice_roll(d, 0, 1000000) / 1e6;
}

const ridge_slice *train_slice(ridge_ctx *cx, const char *text)
{
    const ridge_catalog *catalog = NULL;
    const ridge_slice *slice = NULL;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_slice_parse(cx, catalog, text, &slice));
    return slice;
}

/* What a random model varies; experts 0: dense. */
typedef struct shape {
    int64_t layers, d, heads, kv_heads, f, vocab, experts;
} shape;

static const ridge_model *model_of(ridge_ctx *cx, const shape *s)
{
    return fixture_model(
        cx,
        "{'model_type': '%s', 'hidden_size': %lld, 'num_hidden_layers': %lld,"
        " 'num_attention_heads': %lld, 'num_key_value_heads': %lld, 'head_dim': 64,"
        " 'intermediate_size': %lld, 'vocab_size': %lld, 'num_local_experts': %lld,"
        " 'num_experts_per_tok': 2}",
        s->experts > 0 ? "mixtral" : "llama", (long long)s->d, (long long)s->layers,
        (long long)s->heads, (long long)s->kv_heads, (long long)s->f,
        (long long)s->vocab, (long long)s->experts);
}

const ridge_model *train_dense_model(ridge_ctx *cx)
{
    return model_of(cx, &(shape){4, 1024, 16, 4, 4096, 32000, 0});
}

const ridge_model *train_moe_model(ridge_ctx *cx)
{
    return model_of(cx, &(shape){4, 1024, 16, 4, 1024, 32000, 8});
}

ridge_train_request train_request(const ridge_model *model, const ridge_slice *slice,
                                  double batch_seqs, double seq_tokens)
{
    return (ridge_train_request){.model = model,
                                 .slice = slice,
                                 .batch_tokens = batch_seqs * seq_tokens,
                                 .seq_tokens = seq_tokens,
                                 .knobs = ridge_knobs_free(),
                                 .top = 8};
}

ridge_layout train_layout(int64_t dp, int64_t fsdp, int64_t tp, int64_t cp, int64_t pp)
{
    return (ridge_layout){.dp = dp,
                          .fsdp = fsdp,
                          .tp = tp,
                          .cp = cp,
                          .pp = pp,
                          .ep = 1,
                          .zero_stage = fsdp > 1 ? 3 : 0,
                          .vpp = 1,
                          .microbatch_seqs = 1};
}

ridge_train_price train_price_of(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_layout *layout)
{
    ridge_train_price price;
    assert_ok(cx, ridge_train_price_one(cx, request, layout, &price));
    return price;
}

static const ridge_model *random_model(ridge_ctx *cx, dice *d)
{
    const int64_t groups[] = {1, 2, 4};
    shape s = {.layers = dice_roll(d, 2, 4),
               .d = 512 * dice_roll(d, 1, 16),
               .kv_heads = dice_roll(d, 1, 2) * 4,
               .f = 1024 * dice_roll(d, 1, 16),
               .vocab = dice_roll(d, 1000, 100000),
               .experts = dice_roll(d, 0, 1) * 4 * dice_roll(d, 1, 4)};
    s.heads = s.kv_heads * groups[dice_roll(d, 0, 2)];
    return model_of(cx, &s);
}

/* Most problems fix a knob or two, as people do. */
static void fix_knobs(dice *d, int64_t chips, ridge_knobs *k)
{
    const int64_t two = chips > 8 ? 2 : 1;
    switch (dice_roll(d, 0, 9)) {
    case 0:
        k->tp = dice_roll(d, 0, 1) ? 1 : 4;
        break;
    case 1:
        k->pp = dice_roll(d, 1, 2);
        break;
    case 2:
        k->remat = (int)dice_roll(d, 0, RIDGE_REMAT_COUNT - 1);
        break;
    case 3:
        k->has_sp = (int)dice_roll(d, 0, 1);
        break;
    case 4:
        k->dp = two;
        break;
    case 5:
        k->microbatch_seqs = 1;
        break;
    case 6:
        k->schedule = RIDGE_KNOB_ANY;
        break;
    case 7:
        k->offload = RIDGE_KNOB_ANY;
        k->microbatch_seqs = dice_roll(d, 1, 2);
        break;
    case 8:
        k->overlap[dice_roll(d, 0, RIDGE_OVERLAP_COUNT - 1)] = (int)dice_roll(d, 0, 1);
        break;
    default:
        break;
    }
    if (dice_roll(d, 0, 3) == 0)
        k->precision = (ridge_precision)dice_roll(d, 0, RIDGE_PRECISION_COUNT - 1);
    if (chips > 8 || dice_roll(d, 0, 2) > 0) { /* what multiplies spaces most */
        k->remat =
            k->remat >= 0 ? k->remat : (int)dice_roll(d, 0, RIDGE_REMAT_COUNT - 1);
        k->microbatch_seqs = dice_roll(d, 0, 1) ? 1 : k->microbatch_seqs;
    }
    if (dice_roll(d, 0, 3) == 0)
        k->optimizer = (ridge_optimizer)dice_roll(d, 0, RIDGE_OPTIMIZER_COUNT - 1);
    if (chips > 8 && k->cp == 0)
        k->cp = dice_roll(d, 0, 2) == 0 ? 2 : 1;
}

/* What the chip or a dense model does not have is left to the search. */
static void settle_knobs(const ridge_chip *chip, const ridge_model *model,
                         ridge_knobs *k)
{
    const ridge_dtype wanted = ridge_precision_policy(k->precision)->compute;
    ridge_dtype used = wanted;
    bool has_experts = false;
    ridge_chip_peak(chip, wanted, &used);
    if (used != wanted)
        k->precision = RIDGE_PRECISION_BF16;
    for (int i = 0; i < model->n_layers; i++)
        has_experts = has_experts || model->layers[i].ffn.kind == RIDGE_FFN_MOE;
    if (!has_experts)
        k->overlap[RIDGE_OVERLAP_EP] = RIDGE_FLAG_FREE;
}

void train_problem_open(uint64_t seed, train_problem *out)
{
    static const char *const slices[] = {"h100:1x8",  "h100:2x4", "v5e:2x4",
                                         "gb200:1x8", "h100:4x8", "v5p:2x2x4",
                                         "2*v5e:4x4", "a100:2x8"};
    dice d = dice_of(seed);
    *out = (train_problem){.cx = ridge_ctx_open()};
    assert_non_null(out->cx);
    /* every second problem on eight chips or fewer: they are the quick ones */
    const int64_t last = seed % 2 == 0 ? 3 : (int64_t)RIDGE_COUNT_OF(slices) - 1;
    out->slice = *train_slice(out->cx, slices[dice_roll(&d, 0, last)]);
    out->chip = *out->slice.chip;
    out->chip.hbm_bytes *= pow(2, dice_between(&d, -4, 0));
    out->chip.visible_bytes = 0;
    out->slice.chip = &out->chip;
    const ridge_model *model = random_model(out->cx, &d);
    const double seq_tokens = (double)(1024 * dice_roll(&d, 1, 4));
    out->request =
        train_request(model, &out->slice, (double)dice_roll(&d, 2, 12), seq_tokens);
    fix_knobs(&d, out->slice.chips, &out->request.knobs);
    settle_knobs(&out->chip, model, &out->request.knobs);
}
