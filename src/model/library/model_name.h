/* How people spell the names of models: letter case, separators, prefixes, suffixes. */
#ifndef RIDGE_MODEL_NAME_H
#define RIDGE_MODEL_NAME_H

#include "ridge/base.h"

/** Equal but for ASCII letter case and the separators "-", "_" and " ". */
bool ridge__model_name_equal(ridge_str a, ridge_str b);

/** Cut off what does not change the shapes: one of "-hf", "-instruct", "-chat", …
 * @return false if there is none; *name is then untouched */
bool ridge__model_name_shorten(ridge_str *name);

/** Cut off what tells the format of a quantised release: "-AWQ", "-GPTQ-Int4", "-FP8",
 * …
 * @return false if there is none; *name is then untouched */
bool ridge__model_name_unquantised(ridge_str *name);

/** @return the name behind the last "/" */
ridge_str ridge__model_name_bare(ridge_str name);

#endif
