/* Tokens dealt to experts, as text, a page and JSON. */
#ifndef RIDGE_REPORT_ROUTING_H
#define RIDGE_REPORT_ROUTING_H

#include "ridge/model_routing.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_routing_view {
    const char *name; /* of the model; NULL: none */
    const ridge_routing_request *request;
    const ridge_routing *routing;
} ridge_routing_view;

void ridge_routing_write_text(ridge_ctx *cx, const ridge_routing_view *view,
                              bool with_colour, ridge_buf *out);
void ridge_routing_write_html(ridge_ctx *cx, const ridge_routing_view *view,
                              ridge_buf *out);
/** Set the keys "name" and "routing" of @p object. */
void ridge_routing_write_json(ridge_ctx *cx, const ridge_routing_view *view,
                              ridge_json *object);

#ifdef __cplusplus
}
#endif
#endif
