/* Times and names as a profile's sections write them. */
#include "profile_sections.h"

#include <string.h>

double profile_seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

const char *profile_name_text(ridge_ctx *cx, const char *name, size_t most)
{
    const size_t n = strlen(name);
    if (n <= most)
        return name;
    /* The end of a kernel's name tells less than its start, but tells variants apart.
     */
    size_t head = most * 2 / 3;
    size_t tail = n - (most - head - 3);
    while (head > 0 && is_continuation(name[head]))
        head--;
    while (tail < n && is_continuation(name[tail]))
        tail++;
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%.*s...%s", (int)head, name, name + tail);
    return text == NULL ? "" : text;
}
