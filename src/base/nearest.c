/* The known names nearest to a misspelt one. */
#include "ridge/base.h"

#include <string.h>

enum { NAME_MAX_CHARS = 64, SUGGEST_MOST = 3 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Edits that turn a into b: insert, delete, replace, or swap two neighbours. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][NAME_MAX_CHARS + 1] = {{0}};
    int n = (int)strlen(b);
    for (int j = 0; j <= n; j++)
        rows[0][j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3];
        const int *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int cost = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + cost);
            bool is_swap = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
            if (is_swap)
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][n];
}

static bool starts_with(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    for (size_t i = 0; i < n; i++) {
        if (lower(name[i]) != lower(prefix[i]))
            return false;
    }
    return n > 0;
}

/* Smaller is nearer; names beyond the limit are no suggestion. */
static int distance_to(const char *name, const char *known)
{
    const int edits = edit_distance(name, known);
    return starts_with(known, name) ? least(edits, 1) : edits;
}

size_t ridge_nearest_names(const char *name, const char *const *names, size_t n,
                           size_t most, const char **out)
{
    int distances[16];
    size_t found = 0;
    if (most > RIDGE_COUNT_OF(distances))
        most = RIDGE_COUNT_OF(distances);
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_CHARS)
        return 0;
    const int limit = length < 4 ? 1 : (int)(length / 3) + 1;
    for (size_t i = 0; i < n; i++) {
        if (names[i] == NULL || strlen(names[i]) > NAME_MAX_CHARS)
            continue;
        int d = distance_to(name, names[i]);
        if (d > limit)
            continue;
        size_t at = found < most ? found++ : most;
        for (; at > 0 && distances[at - 1] > d; at--) {
            if (at < most) {
                distances[at] = distances[at - 1];
                out[at] = out[at - 1];
            }
        }
        if (at < most) {
            distances[at] = d;
            out[at] = names[i];
        }
    }
    return found;
}

const char *ridge_suggestion(ridge_arena *arena, const char *name,
                             const char *const *names, size_t n)
{
    const char *near_names[SUGGEST_MOST];
    size_t found = ridge_nearest_names(name, names, n, SUGGEST_MOST, near_names);
    if (found == 0)
        return "";
    ridge_buf b;
    ridge_buf_init(&b, arena);
    ridge_buf_puts(&b, "did you mean ");
    for (size_t i = 0; i < found; i++) {
        const char *sep = i == 0 ? "" : i + 1 == found ? " or " : ", ";
        ridge_buf_printf(&b, "%s%s", sep, near_names[i]);
    }
    ridge_buf_puts(&b, "?");
    return b.is_short ? "" : ridge_buf_text(&b);
}

ridge_status ridge_fail_name(ridge_ctx *cx, ridge_status status, const char *kind,
                             const char *text, const char *const *names, size_t n)
{
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_scratch(cx));
    for (size_t i = 0; i < n; i++) {
        const char *sep = i == 0 ? "" : i + 1 == n ? " or " : ", ";
        ridge_buf_printf(&all, "%s%s", sep, names[i]);
    }
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), text, names, n);
    return ridge_fail(cx, status, "unknown %s '%.60s': use %s%s%s", kind, text,
                      ridge_buf_text(&all), hint[0] == '\0' ? "" : "; ", hint);
}
