/*
 * What a plane of an XSpace says of its events and of their statistics. Layer-internal.
 */
#ifndef RIDGE_PROFILE_XPLANE_TABLES_H
#define RIDGE_PROFILE_XPLANE_TABLES_H

#include "trace_store.h"

#include <xplane.pb-c.h>

/* Statistics that are read. name, text */
/* clang-format off */
#define XPLANE_STAT_LIST(X)                      \
    X(CORRELATION, "correlation_id")             \
    X(CATEGORY, "hlo_category")                  \
    X(SCOPE, "tf_op")                            \
    X(OP, "hlo_op")                              \
    X(MODULE, "hlo_module")                      \
    X(SOURCE, "source")                          \
    X(MODEL_FLOPS, "model_flops")                \
    X(FLOPS, "flops")                            \
    X(BYTES, "bytes_accessed")                   \
    X(DEVICE_TYPE, "device_type_string")         \
    X(VENDOR, "device_vendor")                   \
    X(CORES, "core_count")                       \
    X(MEMORY, "memory_size")                     \
    X(PEAK, "peak_teraflops_per_second")         \
    X(STEP, "step_num")
/* clang-format on */

typedef enum xplane_stat {
    XPLANE_STAT_OTHER,
#define XPLANE_STAT_ENUM(name, text) XPLANE_STAT_##name,
    XPLANE_STAT_LIST(XPLANE_STAT_ENUM)
#undef XPLANE_STAT_ENUM
        XPLANE_STAT_END
} xplane_stat;

/** Values of statistics, by kind: texts in names, numbers as they are. */
typedef struct xplane_values {
    uint32_t text[XPLANE_STAT_END];
    double number[XPLANE_STAT_END];
    bool has[XPLANE_STAT_END];
} xplane_values;

/** One kind of event. */
typedef struct xplane_event {
    uint32_t name, long_name; /* in names */
    xplane_values values;
} xplane_event;

typedef struct xplane_tables {
    uint32_t name; /* of the plane */
    bool is_device, is_host;
    name_table event_ids; /* by the bytes of an id */
    record_list events;   /* xplane_event * */
    name_table stat_ids;
    record_list stats;    /* of uint32_t: name and xplane_stat of each */
    xplane_values values; /* of the plane */
} xplane_tables;

RIDGE_NODISCARD ridge_status xplane_tables_init(trace_store *store, ridge_str name,
                                                xplane_tables *out);
/** Take entries of field 4, 5 or 6 of a plane. What is damaged is noted as lost. */
RIDGE_NODISCARD ridge_status xplane_tables_add(trace_store *store, xplane_tables *t,
                                               uint64_t field, ridge_str bytes);
/** Once all entries are there: read what they say. */
RIDGE_NODISCARD ridge_status xplane_tables_end(trace_store *store, xplane_tables *t);
const xplane_event *xplane_tables_event(const xplane_tables *t, int64_t id);
/** Put statistics into values. */
void xplane_values_read(trace_store *store, const xplane_tables *t,
                        Ridge__Xplane__Stat *const *stats, size_t n, xplane_values *to);
/** Memory of unpacking: arena of the ctx, rewound by the caller. */
ProtobufCAllocator xplane_allocator(trace_store *store);

#endif
