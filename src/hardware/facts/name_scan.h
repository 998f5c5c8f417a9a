/* The names in a JSON text, without parsing the rest of it. */
#ifndef RIDGE_NAME_SCAN_H
#define RIDGE_NAME_SCAN_H

#include "ridge/base.h"

/**
 * @param text     a valid JSON object
 * @param key      the member that names the thing, a text
 * @param aliases  out: NULL-terminated, of the member "aliases", if any
 * @return false when the text is not plain enough (escapes, other types) or memory is
 *         short: parse it then
 */
bool ridge__names_scan(ridge_arena *arena, ridge_str text, const char *key,
                       const char **name, const char *const **aliases);

#endif
