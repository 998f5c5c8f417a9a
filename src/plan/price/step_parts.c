/* The parts of a step and of memory, by number and by name, from the two lists. */
#include "ridge/plan.h"

typedef struct part_name {
    const char *text;
    const char *what;
} part_name;

static const part_name step_names[] = {
#define STEP_NAME(name, text, what) {text, what},
    RIDGE_STEP_LIST(STEP_NAME)
#undef STEP_NAME
};

static const part_name memory_names[] = {
#define MEMORY_NAME(name, text, what) {text, what},
    RIDGE_MEMORY_LIST(MEMORY_NAME)
#undef MEMORY_NAME
};

const char *ridge_step_text(int part)
{
    return step_names[part].text;
}

const char *ridge_step_what(int part)
{
    return step_names[part].what;
}

double ridge_step_get(const ridge_step_parts *parts, int part)
{
    const double values[] = {
#define STEP_VALUE(name, text, what) parts->name##_s,
        RIDGE_STEP_LIST(STEP_VALUE)
#undef STEP_VALUE
    };
    return values[part];
}

double ridge_step_total_s(const ridge_step_parts *parts)
{
    double total_s = 0;
#define ADD_STEP(name, text, what) total_s += parts->name##_s;
    RIDGE_STEP_LIST(ADD_STEP)
#undef ADD_STEP
    return total_s;
}

const char *ridge_memory_part_text(int part)
{
    return memory_names[part].text;
}

const char *ridge_memory_part_what(int part)
{
    return memory_names[part].what;
}

double ridge_memory_part_get(const ridge_memory_parts *parts, int part)
{
    const double values[] = {
#define MEMORY_VALUE(name, text, what) parts->name##_bytes,
        RIDGE_MEMORY_LIST(MEMORY_VALUE)
#undef MEMORY_VALUE
    };
    return values[part];
}

double ridge_memory_total_bytes(const ridge_memory_parts *parts)
{
    double total_bytes = 0;
#define ADD_MEMORY(name, text, what) total_bytes += parts->name##_bytes;
    RIDGE_MEMORY_LIST(ADD_MEMORY)
#undef ADD_MEMORY
    return total_bytes;
}

const char *ridge_fit_text(ridge_fit fit)
{
    static const char *const texts[] = {
        "fits",
        "the fullest stage does not fit in HBM",
        "the degrees do not multiply to the number of chips",
        "the degrees do not factor over the network's axes",
        "heads or widths do not divide by tp",
        "the experts do not divide by ep, or ep does not divide the mesh",
        "there are more stages than layers, or stages ask for more than there are",
        "more than half of the replicas would have no sequence",
        "the sequence does not divide by cp and tp",
        "the microbatch does not divide a replica's share of the batch",
        "the schedule needs more microbatches than a replica has, or more layers",
        "no bandwidth between chip and host is known, so nothing can be offloaded",
        "what is offloaded does not fit in the hosts' memory",
        "the ZeRO stage has no ranks to shard over (or fsdp needs one)",
    };
    _Static_assert(RIDGE_COUNT_OF(texts) == RIDGE_FIT_COUNT, "one text per reason");
    return texts[fit];
}
