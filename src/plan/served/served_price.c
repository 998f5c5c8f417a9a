#include "served_price.h"

#include <math.h>
#include <string.h>

static double per_rank(const priced_part *p, double sequences)
{
    return fmax(1, ceil(sequences / (double)p->layout.attention_dp));
}

/* An engine that does not cut prompts is started with room for one beside the sequences
 * that decode. */
static void make_room(const served_part *part, ridge_serving_layout *layout)
{
    const ridge_model *m = part->about.model;
    int64_t least = part->prompt_tokens + layout->sequences;
    const int64_t longest =
        part->model_tokens > 0 ? part->model_tokens : m->max_positions;
    if (part->about.engine->batching == RIDGE_BATCHING_PREFILL && longest > least)
        least = longest; /* max_num_batched_tokens is max_model_len */
    if (!part->about.engine->is_chunked && layout->budget_tokens < least &&
        part->batch_tokens == 0)
        layout->budget_tokens = least;
}

static bool is_same_slice(const ridge_slice *a, const ridge_slice *b)
{
    return a->chip == b->chip && a->system == b->system &&
           strcmp(a->text, b->text) == 0;
}

/* Models and catalogues are shared, engines may have settings of their own. */
static bool is_same_case(const ridge_serving_case *a, const ridge_serving_case *b)
{
    ridge_serving_case x = *a, y = *b;
    if (!is_same_slice(a->slice, b->slice) ||
        memcmp(a->engine, b->engine, sizeof *a->engine) != 0)
        return false;
    x.slice = y.slice = NULL;
    x.engine = y.engine = NULL;
    return memcmp(&x, &y, sizeof x) == 0;
}

/* That of an earlier row, or a new one in the place of the oldest. */
static ridge_status open_desk(ridge_ctx *cx, served_shared *shared,
                              const ridge_serving_case *about, ridge_serving_desk **out)
{
    for (int i = 0; i < SERVED_DESKS_MOST && i < shared->n_opened; i++) {
        if (is_same_case(&shared->desks[i].about, about)) {
            *out = shared->desks[i].desk;
            return RIDGE_OK;
        }
    }
    RIDGE_TRY(ridge_serving_desk_open(cx, about, out));
    shared->desks[shared->n_opened++ % SERVED_DESKS_MOST] = (served_desk){*about, *out};
    return RIDGE_OK;
}

ridge_status priced_part_size(ridge_ctx *cx, served_shared *shared,
                              const served_part *part, priced_part *out)
{
    const ridge_engine_room room =
        ridge_engine_room_on(part->about.engine, part->about.slice->chip);
    *out = (priced_part){.part = part, .layout = part->layout};
    if (out->layout.budget_tokens <= 0)
        out->layout.budget_tokens = room.budget_tokens;
    if (part->batch_tokens > 0)
        out->layout.budget_tokens = part->batch_tokens < out->layout.budget_tokens
                                        ? part->batch_tokens
                                        : out->layout.budget_tokens;
    if (out->layout.sequences <= 0 || out->layout.sequences > room.sequences)
        out->layout.sequences = room.sequences;
    make_room(part, &out->layout);
    RIDGE_TRY(open_desk(cx, shared, &part->about, &out->desk));
    const char *fault = ridge_serving_layout_fault(out->desk, &out->layout);
    if (fault != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s", fault);
    RIDGE_TRY(ridge_serving_memory_find(out->desk, &out->layout, &out->memory));
    if (part->tunes_sizes) {
        served_sizes_tune(out);
        make_room(part, &out->layout);
        RIDGE_TRY(ridge_serving_memory_find(out->desk, &out->layout, &out->memory));
    }
    return RIDGE_OK;
}

ridge_status priced_part_open(ridge_ctx *cx, served_shared *shared,
                              const served_part *part, priced_part *out)
{
    RIDGE_TRY(priced_part_size(cx, shared, part, out));
    if (!out->memory.fits)
        return ridge_fail(cx, RIDGE_E_ARG, "does not fit by Ridge's count of memory");
    return RIDGE_OK;
}

ridge_status priced_decode(const priced_part *p, double sequences, double context,
                           ridge_serving_step *out)
{
    const ridge_serving_load load = {.decode_sequences = per_rank(p, sequences),
                                     .decode_context = context};
    return ridge_serving_step_price(p->desk, &p->layout, &load, out);
}

ridge_status priced_prompts(const priced_part *p, double prompts, double tokens,
                            double cached, double *out)
{
    const double budget = (double)p->layout.budget_tokens;
    double left = per_rank(p, prompts) * tokens;
    double before = cached;
    *out = 0;
    while (left > 0) {
        const double chunk = fmin(left, budget);
        const double whole = fmax(1, chunk / tokens);
        ridge_serving_step step;
        const ridge_serving_load load = {.chunk_tokens = chunk,
                                         .chunks = whole,
                                         .chunk_context =
                                             tokens > budget ? before : cached,
                                         .finishing = left <= budget ? whole : 0};
        RIDGE_TRY(ridge_serving_step_price(p->desk, &p->layout, &load, &step));
        *out += step.expected_s;
        left -= chunk;
        before = before + chunk < cached + tokens ? before + chunk : cached;
    }
    return RIDGE_OK;
}
