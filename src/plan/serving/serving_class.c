/*
 * Classes of caches: layers whose attention meets as much of a context are priced by
 * one table, and states that do not grow by another.
 */
#include "serving_bench.h"

bool serving_mixer_is_state(const serving_mixer *m)
{
    return !m->has_scores || m->is_cross;
}

static double own_window(const serving_mixer *m)
{
    const ridge_mixer *mixer = m->mixer;
    return mixer->is_window_chunked || mixer->compress_ratio > 0 ||
                   serving_mixer_is_state(m)
               ? 0
               : (double)mixer->window;
}

static bool is_window_met(const serving_cut *cut, int i)
{
    const double window = own_window(&cut->mixers[i]);
    for (int j = 0; j < i; j++) {
        const double before = own_window(&cut->mixers[j]);
        if (before >= window && before <= window)
            return true;
    }
    return false;
}

void serving_classes_set(serving_cut *cut)
{
    int windows = 0;
    for (int i = 0; i < cut->n_mixers; i++)
        windows += is_window_met(cut, i) ? 0 : 1;
    for (int i = 0; i < cut->n_mixers && windows < RIDGE_SERVING_CACHE_MAX; i++)
        cut->mixers[i].class_window = own_window(&cut->mixers[i]);
}
