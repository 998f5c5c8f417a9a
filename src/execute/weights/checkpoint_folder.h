/* Folders of checkpoints: their names, what is in them, making and removing them. */
#ifndef RIDGE_CHECKPOINT_FOLDER_H
#define RIDGE_CHECKPOINT_FOLDER_H

#include "ridge/base.h"

#define RIDGE__CHECKPOINT_FILE  "checkpoint.json"
#define RIDGE__CHECKPOINT_STATE "state.json"

enum { RIDGE__CHECKPOINT_VERSION = 1, RIDGE__CHECKPOINT_PART_MAX = 1 << 14 };

/* Paths, in the scratch arena; NULL: no memory. */
const char *ridge__checkpoint_step_path(ridge_ctx *cx, const char *dir, int64_t step);
/** Where a checkpoint is written until it is whole: hidden, beside its place. */
const char *ridge__checkpoint_partial_path(ridge_ctx *cx, const char *dir,
                                           int64_t step);
/** "rank-00003.safetensors" in a folder. */
const char *ridge__checkpoint_rank_path(ridge_ctx *cx, const char *folder, int rank);
const char *ridge__checkpoint_join(ridge_ctx *cx, const char *folder, const char *name);

/** Steps in the folder of a run. */
typedef struct ridge__checkpoint_steps {
    size_t n;
    int64_t *steps; /* falling */
} ridge__checkpoint_steps;

/** Steps whose folder holds a checkpoint.json. A folder that is not there has none.
 * @owner the scratch arena. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__checkpoint_list(ridge_ctx *cx, const char *dir,
                                                    ridge__checkpoint_steps *out);

/** Make a folder and those that it lies in. @errors E_IO */
RIDGE_NODISCARD ridge_status ridge__checkpoint_make(ridge_ctx *cx, const char *path);
/** Remove the files of a checkpoint, checkpoint.json first, and the folder if nothing
 * else is in it. What cannot be removed stays. */
void ridge__checkpoint_remove(ridge_ctx *cx, const char *folder);
/** Remove what interrupted runs left in the folder of a run. */
void ridge__checkpoint_sweep(ridge_ctx *cx, const char *dir);
/** Give a partial folder its name, in place of one that has it.
 * @errors E_IO */
RIDGE_NODISCARD ridge_status ridge__checkpoint_rename(ridge_ctx *cx, const char *dir,
                                                      int64_t step);
/** Write a small file and see it on the disk. @errors E_IO */
RIDGE_NODISCARD ridge_status ridge__checkpoint_put(ridge_ctx *cx, const char *path,
                                                   ridge_str text);
/** What was written to a folder is on the disk. @errors E_IO */
RIDGE_NODISCARD ridge_status ridge__checkpoint_sync(ridge_ctx *cx, const char *folder);

/** Call work with a ctx of its own, so that nothing of it stays in that of a long run;
 * its message is passed on. */
RIDGE_NODISCARD ridge_status ridge__checkpoint_within(
    ridge_ctx *cx, ridge_status (*work)(ridge_ctx *, void *), void *payload);

/** Fail with errno's reason. @return E_IO */
RIDGE_NODISCARD ridge_status ridge__checkpoint_fail(ridge_ctx *cx, const char *path,
                                                    const char *mend);

#endif
