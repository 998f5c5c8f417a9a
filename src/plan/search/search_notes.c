#include "search_notes.h"

#include "search_bound.h"

#include <math.h>

bool search_notes_open(search_desk *d, int microbatches, int pipelines,
                       search_notes *out)
{
    const int tried = d->is_quick && pipelines > 2 ? 2 : pipelines;
    const size_t n = (size_t)microbatches * (size_t)pipelines;
    ridge_arena *arena = ridge_ctx_scratch(d->cx);
    int *left = ridge_new(arena, int, (size_t)microbatches *(size_t)tried + 1);
    *out = (search_notes){
        .n_pipelines = pipelines,
        .notes = ridge_new(arena, pipeline_note, n + 1),
        .microbatches = ridge_new(arena, microbatch_note, (size_t)microbatches + 1)};
    if (left == NULL || out->notes == NULL || out->microbatches == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        out->notes[i].least_s = -1;
    for (int m = 0; m < microbatches; m++) {
        out->microbatches[m] =
            (microbatch_note){.n = tried, .pipelines = &left[m * tried]};
        for (int i = 0; i < tried; i++)
            out->microbatches[m].pipelines[i] = i;
    }
    return true;
}

pipeline_note *search_note_of(const search_notes *notes, int microbatch, int pipeline)
{
    return &notes->notes[microbatch * notes->n_pipelines + pipeline];
}

double search_noted_least_s(search_desk *d, const candidate *c, const ridge_layout *l,
                            pipeline_note *note)
{
    if (note->least_s < 0 || note->has_exchanges != c->times->has_exchanges) {
        note->least_s = search_least_s(d, c, l);
        note->has_exchanges = c->times->has_exchanges;
    }
    return note->least_s;
}

/* A chip holds no less with fewer shards, nor under a lower ZeRO stage: but for the
 * third, which holds gathered weights instead of whole ones. */
double search_noted_room_s(const pipeline_note *note, const train_ways *w,
                           int zero_stage)
{
    const int last = zero_stage == 3 ? 3 : 2;
    double least_s = 0;
    for (int zero = zero_stage; zero <= last; zero++) {
        const room_note *r = &note->rooms[zero];
        if (w->shards <= r->shards && w->expert_shards <= r->expert_shards)
            least_s = fmax(least_s, r->least_s);
    }
    return least_s;
}

void search_note_room(pipeline_note *note, const train_ways *w, int zero_stage,
                      double least_s)
{
    note->rooms[zero_stage] = (room_note){w->shards, w->expert_shards, least_s};
}
