/* An open checkpoint of Ridge's own. */
#ifndef RIDGE_CHECKPOINT_READER_H
#define RIDGE_CHECKPOINT_READER_H

#include "checkpoint_file.h"
#include "token_table.h"

struct ridge_checkpoint_reader {
    const char *path;
    int64_t step;
    const char *model, *mesh;
    ridge_node root, state;
    ridge__rank_file *files;
    ridge__token_table *keys; /* of each file: index of a tensor */
    size_t n_files;
    ridge__part_list list;
};

#endif
