#include "search_notes.h"

#include "search_bound.h"

#include <math.h>

bool search_notes_open(search_desk *d, int microbatches, int pipelines,
                       search_notes *out)
{
    const size_t n = (size_t)microbatches * (size_t)pipelines;
    *out = (search_notes){
        .n_pipelines = pipelines,
        .notes = ridge_new(ridge_ctx_scratch(d->cx), pipeline_note, n + 1)};
    for (size_t i = 0; out->notes != NULL && i < n; i++)
        out->notes[i].least_s = -1;
    return out->notes != NULL;
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
