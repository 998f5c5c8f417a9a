/* The operations of one step, kept to be drawn. */
#include "profile_builder.h"

enum { KEPT_MOST = 1 << 20 };

static bool is_within(const trace_slice *s, const found_step *step)
{
    return s->start_ns >= step->start_ns && s->start_ns < step->end_ns;
}

static ridge_status count_within(trace_store *store, const device_tracks *device,
                                 const found_step *step, size_t *n)
{
    device_walk walk;
    const trace_slice *s;
    int track;
    *n = 0;
    RIDGE_TRY(device_walk_start(store, device, &walk));
    while ((s = device_walk_next(&walk, &track)) != NULL)
        *n += is_within(s, step);
    return RIDGE_OK;
}

static const char *track_name(const trace_store *store, const trace_track *track)
{
    return trace_store_text(store, track->name != 0 ? track->name : track->thread);
}

ridge_status builder_step_keep(profile_builder *b, op_tally *tally,
                               const device_tracks *device, const found_steps *found,
                               const launch_index *launches)
{
    const trace_store *store = tally->store;
    const found_step *step = &found->steps[found->n / 2];
    device_walk walk;
    const trace_slice *s;
    size_t n;
    int track;
    RIDGE_TRY(count_within(tally->store, device, step, &n));
    n = n < KEPT_MOST ? n : KEPT_MOST;
    ridge_profile_kept *kept = ridge_new(ridge_ctx_arena(b->cx), ridge_profile_kept, n);
    if (kept == NULL)
        return ridge_fail_nomem(b->cx);
    RIDGE_TRY(device_walk_start(tally->store, device, &walk));
    size_t at = 0;
    while (at < n && (s = device_walk_next(&walk, &track)) != NULL) {
        if (!is_within(s, step))
            continue;
        uint32_t thread;
        const trace_launch *l = launch_index_find(launches, s->link, &thread);
        const uint32_t number =
            op_tally_number(tally, s->op, l == NULL ? 0 : l->context);
        if (number == NAME_NONE)
            return ridge_fail_nomem(b->cx);
        kept[at++] = (ridge_profile_kept){
            builder_text(b, track_name(store, device->tracks[track])),
            builder_text(
                b, trace_store_text(store, trace_store_op_key(store, s->op)->name)),
            tally->ops[number].class, s->start_ns - step->start_ns,
            trace_slice_length(s)};
    }
    b->out->kept = kept;
    b->out->n_kept = (int)at;
    return RIDGE_OK;
}
