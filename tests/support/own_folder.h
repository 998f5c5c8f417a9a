/* A folder of one test alone, and files in it. */
#ifndef RIDGE_TEST_OWN_FOLDER_H
#define RIDGE_TEST_OWN_FOLDER_H

#include "near.h"
#include "ridge/base.h"

/** An empty folder of this test program under the build folder.
 * @return its path, in the ctx's arena */
const char *own_folder(ridge_ctx *cx, const char *name);
/** Remove a file or a folder with all that is in it; what is not there, too. */
void own_folder_remove(const char *path);
/** "folder/name", in the ctx's arena. */
const char *own_path(ridge_ctx *cx, const char *folder, const char *name);
/** Write a file; fails the test if it cannot. @return its path */
const char *own_file(ridge_ctx *cx, const char *folder, const char *name,
                     const void *bytes, size_t n);
/** Files and folders in a folder. */
int own_folder_count(const char *path);

/** Fail unless st is @p want and the message of cx holds @p text. */
void assert_failed(ridge_ctx *cx, ridge_status st, ridge_status want, const char *text);
/** Fail, with the message, unless st is success. */
void assert_done(ridge_ctx *cx, ridge_status st);

#endif
