/* What the readers of all frameworks share: data parallelism, models by name. */
#include "launch_read.h"

#include "launch_names.h"
#include "train_case.h"

#include <string.h>

void launch_data_knobs(const launch_data *data, ridge_knobs *knobs)
{
    knobs->zero_stage = data->zero_stage;
    knobs->dp = data->zero_stage == 0 ? data->ranks : data->replicas;
    knobs->fsdp = data->ranks / knobs->dp;
    if (knobs->fsdp * knobs->cp == 1)
        knobs->zero_stage = 0;
}

void launch_usual_knobs(ridge_knobs *k)
{
    if (k->pp > 1) {
        k->schedule = k->vpp > 1 ? RIDGE_SCHEDULE_INTERLEAVED : RIDGE_SCHEDULE_1F1B;
        k->first_layers = k->last_layers = RIDGE_STAGE_EVEN;
        k->is_first_fixed = k->is_last_fixed = true;
    }
    if (k->cp > 1)
        k->cp_exchange = RIDGE_CP_RING;
    k->offload = RIDGE_OFFLOAD_NONE;
    k->optimizer = RIDGE_OPTIMIZER_ADAMW;
    k->overlap[RIDGE_OVERLAP_FSDP] = k->overlap[RIDGE_OVERLAP_DP] = 1;
    k->overlap[RIDGE_OVERLAP_PP] = k->overlap[RIDGE_OVERLAP_EP] = 0;
}

int launch_word_find(const launch_word *words, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i].name, name) == 0)
            return words[i].value;
    }
    return -1;
}

void launch_expert_width_note(launch_sheet *sheet, launch_field field, int64_t stated,
                              const ridge_knobs *knobs)
{
    const int64_t priced = train_expert_width(knobs->tp, knobs->ep);
    if (sheet->launch->model == NULL || stated == priced || stated == 0)
        return;
    launch_notes_add(sheet->cx, &sheet->launch->differing,
                     "%s: %s %lld with tp=%lld ep=%lld: priced as %lld", sheet->file,
                     launch_sheet_name(sheet, field), (long long)stated,
                     (long long)knobs->tp, (long long)knobs->ep, (long long)priced);
}

const char *launch_model_title(const launch_sheet *sheet)
{
    const char *slash = strrchr(sheet->file, '/');
    const char *title = ridge_sprintf(ridge_ctx_arena(sheet->cx), "sizes of %s",
                                      slash == NULL ? sheet->file : slash + 1);
    return title == NULL ? sheet->file : title;
}

/* "llama3.1_70B.yaml" as "llama3.1-70b". */
static void plain_name(const char *name, char *out, size_t room)
{
    static const char *const tails[] = {".yaml", ".yml"};
    size_t n = strlen(name);
    for (size_t i = 0; i < RIDGE_COUNT_OF(tails); i++) {
        const size_t tail = strlen(tails[i]);
        if (n > tail && strcmp(name + n - tail, tails[i]) == 0)
            n -= tail;
    }
    n = n + 1 < room ? n : room - 1;
    for (size_t i = 0; i < n; i++) {
        const char c = name[i];
        out[i] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[n] = '\0';
}

ridge_status launch_model_find(launch_sheet *sheet, const ridge_launch_query *query,
                               launch_field field, const char *name,
                               ridge_launch *launch)
{
    char plain[128];
    plain_name(name, plain, sizeof plain);
    const launch_name *row = launch_name_find(plain);
    const char *known = row == NULL ? plain : row->library;
    if (ridge_path_exists(known)) {
        return launch_sheet_fail(sheet, RIDGE_E_NOTFOUND, field,
                                 "'%.60s' is a path: give the model as well, as in "
                                 "ridge train llama-3-8b --from FILE",
                                 name);
    }
    const ridge_status st =
        ridge_model_load(sheet->cx, query->library, known, &launch->model);
    if (st != RIDGE_OK) {
        const char *why = ridge_str_dup(ridge_ctx_arena(sheet->cx),
                                        ridge_str_of(ridge_ctx_message(sheet->cx)));
        return launch_sheet_fail(sheet, st, field, "%s: or give the model as well",
                                 why == NULL ? "unknown model" : why);
    }
    launch->model_name = launch->model->name;
    return RIDGE_OK;
}

ridge_status launch_mtp_read(launch_sheet *s, ridge_knobs *knobs)
{
    int64_t layers = 0;
    if (!launch_sheet_has(s, LAUNCH_MTP))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_MTP, 0, RIDGE_MTP_MOST, &layers));
    knobs->mtp = (int)layers;
    return RIDGE_OK;
}
