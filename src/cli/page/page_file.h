/*
 * Where the web page is on this machine.
 */
#ifndef RIDGE_CLI_PAGE_FILE_H
#define RIDGE_CLI_PAGE_FILE_H

#include "ridge/base.h"

/**
 * The page beside the program: ../share/ridge/index.html when it is installed,
 * ../web/index.html or ../../build/web/index.html in a build tree.
 * @errors E_NOTFOUND with how to get one; E_NOMEM
 * @owner cx
 */
RIDGE_NODISCARD ridge_status page_file_find(ridge_ctx *cx, const char **out);

#endif
