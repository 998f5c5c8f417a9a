/*
 * One event of a Chrome trace (Trace Event Format) as it stands in the text, and what
 * each dialect makes of it. Layer-internal.
 *
 *     {"ph": phase, "cat": category, "name": text, "pid": id, "tid": id,
 *      "ts": microseconds, "dur": microseconds, "args": {...}}
 *
 * Phases that are read: X (complete), B and E (begin and end), M (metadata).
 */
#ifndef RIDGE_PROFILE_CHROME_EVENT_H
#define RIDGE_PROFILE_CHROME_EVENT_H

#include "chrome_args.h"
#include "trace_store.h"

/** What a category says that an event is. */
typedef enum chrome_kind {
    CHROME_OTHER, /* none of Kineto's: of XLA, rocprof, Ridge, or unknown */
    CHROME_KERNEL,
    CHROME_COPY,
    CHROME_CALL,
    CHROME_PYTHON,
    CHROME_RUNTIME,
    CHROME_NOTE,
    CHROME_OTHER_DEVICE, /* of accelerators that name no kernels */
    CHROME_IGNORED
} chrome_kind;

typedef struct chrome_event {
    char phase; /* 0: the object has none, so it is no event */
    chrome_kind kind;
    scan_value name, category;
    ridge_str pid, tid;
    ridge_str ts, duration;
    chrome_args args; /* of kinds that need them; else empty */
    int64_t offset;   /* in the file */
} chrome_event;

/** Scan the event at s. @return as scan_any; SCAN_BAD: s stands where it went wrong */
scan_result chrome_event_scan(json_scan *s, chrome_event *out);
/** @return false when its times are malformed: it is then counted as lost */
bool chrome_event_span(trace_store *store, const chrome_event *e, trace_span *out);
/** The number of a value's text, unescaped. */
uint32_t chrome_value_name(trace_store *store, const scan_value *value);
/** Any event into the store. */
void chrome_event_store(trace_store *store, const chrome_event *e);

/** What a category is. */
chrome_kind chrome_kind_of(ridge_str category);
/** A complete event of one of Kineto's kinds. */
void chrome_kineto_store(trace_store *store, const chrome_event *e);
/** The name of a process or thread, and what follows from it. */
void chrome_metadata_store(trace_store *store, const chrome_event *e);
/** Any other complete event. */
void chrome_track_store(trace_store *store, const chrome_event *e,
                        const trace_span *span);
/** What a track is for, by its name and its process's. */
trace_use chrome_track_use(ridge_str process, ridge_str track);
/** Members of the document beside its events: deviceProperties, distributedInfo, ... */
void chrome_document_store(trace_store *store, ridge_str key, const scan_value *value);

#endif
