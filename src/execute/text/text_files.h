/* Which files a list of paths stands for. */
#ifndef RIDGE_TEXT_FILES_H
#define RIDGE_TEXT_FILES_H

#include "ridge/base.h"

typedef struct ridge__text_files {
    size_t n;
    const char **paths;
} ridge__text_files;

/**
 * Files as they are, and folders as the *.txt, *.md and *.bin in them and in their
 * folders, by name.
 * @owner the ctx. @errors E_NOTFOUND a path, or a folder without such files; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__text_files_find(ridge_ctx *cx,
                                                    const char *const *paths, int n,
                                                    ridge__text_files *out);

bool ridge__is_token_file(const char *path); /* *.bin */

#endif
