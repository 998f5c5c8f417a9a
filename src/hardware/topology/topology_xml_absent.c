/* Without expat: XML of a topology is refused, with the reason. */
#include "topology_read.h"

ridge_status ridge__topology_xml_read(ridge_ctx *cx, ridge_str text,
                                      ridge_topology *out)
{
    (void)text;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: this ridge was built without expat, which reads XML: build "
                      "it with libexpat1-dev installed",
                      out->file);
}
