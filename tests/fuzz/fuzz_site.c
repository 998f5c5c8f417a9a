/* Any bytes as a file of data/sites or data/failures: a status, never a crash. */
#include <stdlib.h>

#include "failure_read.h"
#include "site_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_ctx *cx = ridge_ctx_open_budget((size_t)64 << 20);
    ridge_node root;
    ridge_site *site = NULL;
    ridge_failure_record *record = NULL;
    if (cx == NULL)
        return 0;
    const ridge_str text = {(const char *)data, size};
    if (ridge_json_parse(cx, text, "fuzz.json", &root) == RIDGE_OK) {
        if (ridge__site_read(cx, root, NULL, &site) == RIDGE_OK &&
            ridge_site_write_bytes_per_s(site, 2) < 0)
            abort();
        if (ridge__failure_read(cx, root, NULL, &record) == RIDGE_OK &&
            !(record->failures_per_chip_hour > 0))
            abort();
    }
    ridge_ctx_close(cx);
    return 0;
}
