/* The text of each status, from the one list. */
#include "ridge/base.h"

const char *ridge_status_text(ridge_status st)
{
    static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
        RIDGE_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    };
    if ((size_t)st >= RIDGE_COUNT_OF(texts))
        return "unknown status";
    return texts[st];
}
