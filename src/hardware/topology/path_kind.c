/* How kinds of paths between devices are written. */
#include "ridge/hardware_topology.h"

static const char *const path_texts[] = {
    [RIDGE_PATH_SELF] = "X",    [RIDGE_PATH_NVLINK] = "NV", [RIDGE_PATH_XGMI] = "XGMI",
    [RIDGE_PATH_PIX] = "PIX",   [RIDGE_PATH_PXB] = "PXB",   [RIDGE_PATH_PHB] = "PHB",
    [RIDGE_PATH_NODE] = "NODE", [RIDGE_PATH_SYS] = "SYS",   [RIDGE_PATH_UNKNOWN] = "?",
};
_Static_assert(RIDGE_COUNT_OF(path_texts) == RIDGE_PATH_KIND_COUNT, "one row a kind");

const char *ridge_path_kind_text(ridge_path_kind kind)
{
    return (size_t)kind < RIDGE_COUNT_OF(path_texts) ? path_texts[kind] : "?";
}
