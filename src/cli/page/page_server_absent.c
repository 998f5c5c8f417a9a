/* No server of the page: libmicrohttpd was not there when this was built. */
#include "page_server.h"

ridge_status page_server_open(ridge_ctx *cx, int port, ridge_str page, page_server *out)
{
    (void)port;
    (void)page;
    (void)out;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "this build has no server (libmicrohttpd was missing): open the "
                      "page's file in a browser");
}

void page_server_close(page_server *server)
{
    (void)server;
}
