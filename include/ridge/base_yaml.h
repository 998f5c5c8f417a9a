/*
 * YAML documents, as nodes like those of JSON.
 */
#ifndef RIDGE_BASE_YAML_H
#define RIDGE_BASE_YAML_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One document of YAML, as JSON would have it: mappings, lists, numbers, true, false,
 * null and texts. Complaints about its nodes name its lines.
 * @owner the ctx
 * @errors E_PARSE with file:line, for aliases and keys that are no words as well;
 * E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_yaml_parse(ridge_ctx *cx, ridge_str text,
                                              const char *file, ridge_node *out);

#ifdef __cplusplus
}
#endif

#endif
