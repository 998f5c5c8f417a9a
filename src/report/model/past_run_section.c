/* The MFU of a published run: by every convention, of the peak in every format that its
 * chip multiplies in. */
#include "model_section.h"

#include "ridge/plan_money.h"

static const ridge_dtype formats[] = {RIDGE_DTYPE_FP16, RIDGE_DTYPE_BF16,
                                      RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP4};

/* fp16 only where there is no bf16: they are equally fast. */
static bool has_peak(const ridge_chip *chip, ridge_dtype format)
{
    const double *peaks = chip->peak_flops_per_s;
    return peaks[format] > 0 &&
           !(format == RIDGE_DTYPE_FP16 && peaks[RIDGE_DTYPE_BF16] > 0);
}

static double mfu_of(const ridge_model_view *v, ridge_convention c, ridge_dtype format)
{
    const ridge_past_run *r = v->run;
    return ridge_run_mfu(ridge_model_flops_train(v->model, v->seq_tokens, c), r->tokens,
                         r->chip_hours, r->chip->peak_flops_per_s[format]);
}

/* More than the peak in every format, by the rule that counts least. */
static bool beats_physics(const ridge_model_view *v)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++) {
        if (has_peak(v->run->chip, formats[i]) &&
            mfu_of(v, RIDGE_CONVENTION_SIX_N_NO_EMBED, formats[i]) <= 1)
            return false;
    }
    return true;
}

static const char *columns_of(ridge_ctx *cx, const ridge_chip *chip)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_buf_puts(&out, "convention|>FLOPs");
    for (size_t i = 0; i < RIDGE_COUNT_OF(formats); i++) {
        if (has_peak(chip, formats[i]))
            ridge_buf_printf(&out, "|>MFU of %s", ridge_dtype_text(formats[i]));
    }
    return ridge_buf_text(&out);
}

void ridge__model_add_past_run(ridge_ctx *cx, const ridge_model_view *v,
                               ridge_sections *out)
{
    const ridge_past_run *r = v->run;
    if (r == NULL)
        return;
    const char *title =
        ridge_sprintf(ridge_ctx_arena(cx), "A run of %s tokens in %s chip-hours of %s",
                      ridge_format_count(r->tokens).s,
                      ridge_format_count(r->chip_hours).s, r->chip->full_name);
    ridge_table *t =
        ridge__section_add(cx, out, title ? title : "A run", columns_of(cx, r->chip));
    for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
        const ridge_convention c = (ridge_convention)i;
        const double flops = ridge_model_flops_train(v->model, v->seq_tokens, c);
        ridge_table_cell(t, ridge_convention_text(c));
        ridge_table_cell(t, ridge_format_si(flops * r->tokens, "FLOP").s);
        for (size_t k = 0; k < RIDGE_COUNT_OF(formats); k++) {
            if (has_peak(r->chip, formats[k]))
                ridge_table_cell(t, ridge_format_percent(mfu_of(v, c, formats[k])).s);
        }
    }
    ridge__section_note(out, "FLOPs of all tokens over the chips' dense peak for those "
                             "hours: what waiting, restarts and evaluation took counts "
                             "against it.");
    if (beats_physics(v))
        ridge__section_note(out, "These chips cannot have done so much in those hours: "
                                 "check the tokens and the chip-hours.");
}

void ridge__model_past_run_to_json(ridge_ctx *cx, const ridge_model_view *v,
                                   ridge_json *object)
{
    const ridge_past_run *r = v->run;
    if (r == NULL)
        return;
    ridge_json *o = ridge_json_set_object(cx, object, "run");
    ridge_json_set_double(o, "tokens", r->tokens);
    ridge_json_set_double(o, "chip_hours", r->chip_hours);
    ridge_json_set_text(o, "chip", r->chip->name);
    ridge_json *mfu = ridge_json_set_object(cx, o, "mfu");
    for (size_t k = 0; k < RIDGE_COUNT_OF(formats); k++) {
        if (!has_peak(r->chip, formats[k]))
            continue;
        ridge_json *of = ridge_json_set_object(cx, mfu, ridge_dtype_text(formats[k]));
        for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
            const ridge_convention c = (ridge_convention)i;
            ridge_json_set_double(of, ridge_convention_text(c),
                                  mfu_of(v, c, formats[k]));
        }
    }
}
