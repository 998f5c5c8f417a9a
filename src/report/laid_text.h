/* Tensors as they lie on a mesh, and a mesh as it lies on a slice. Layer-internal. */
#ifndef RIDGE_REPORT_LAID_TEXT_H
#define RIDGE_REPORT_LAID_TEXT_H

#include "section.h"

#include "ridge/cost_program.h"

/** "w[D,F@tp]{U@x}", in the ctx's arena. */
const char *ridge__laid_tensor(ridge_ctx *cx, const ridge_program *program,
                               const ridge_mesh *mesh, int tensor,
                               const ridge_sharding *sharding);
/** "AllGather_tp w", in the ctx's arena. */
const char *ridge__laid_step(ridge_ctx *cx, const ridge_program *program,
                             const ridge_mesh *mesh, int tensor,
                             const ridge_reshard *step);
/** "x=4,y=2" */
const char *ridge__mesh_text(ridge_ctx *cx, const ridge_mesh *mesh);
/** The section that says where each mesh axis lies. @param tried  placements */
void ridge__placement_add(ridge_ctx *cx, const ridge_mesh *mesh,
                          const ridge_laid_mesh *laid, int64_t tried,
                          ridge_sections *out);
/** The keys "slice", "placements_tried" and "placement". */
void ridge__placement_set(ridge_ctx *cx, const ridge_mesh *mesh,
                          const ridge_laid_mesh *laid, int64_t tried,
                          ridge_json *object);

#endif
