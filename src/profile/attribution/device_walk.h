/*
 * A device's operations over all of its tracks, in order of their start.
 * Layer-internal.
 */
#ifndef RIDGE_PROFILE_DEVICE_WALK_H
#define RIDGE_PROFILE_DEVICE_WALK_H

#include "trace_store.h"

/** The tracks that belong together as one device. */
typedef struct device_tracks {
    const char *name;
    const char *hardware;       /* or "" */
    double cores, memory_bytes; /* or 0 */
    int rank;                   /* or -1 */
    int n;
    trace_track **tracks; /* operations, and asynchronous ones */
    trace_track *steps;   /* or NULL */
    trace_track *modules; /* or NULL */
} device_tracks;

/** Find the devices and their tracks, sort each by time. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status device_tracks_find(trace_store *store, device_tracks **out,
                                                int *n);

typedef struct walk_place {
    int64_t start_ns;
    int track;
    size_t at;
} walk_place;

typedef struct device_walk {
    const device_tracks *device;
    walk_place *heap; /* earliest first */
    int n;
} device_walk;

/** @errors E_NOMEM */
RIDGE_NODISCARD ridge_status device_walk_start(trace_store *store,
                                               const device_tracks *device,
                                               device_walk *out);
/** @param track  out: index into the device's. @return NULL at the end */
const trace_slice *device_walk_next(device_walk *walk, int *track);

#endif
