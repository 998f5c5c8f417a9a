/* The server of the page, by GNU libmicrohttpd. */
#include "page_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

enum { CONNECTIONS_MOST = 32, IDLE_MOST_S = 30 };

typedef struct served_page {
    ridge_str html;
} served_page;

/* @param status  of HTTP; the text lives as long as the server */
static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, ridge_str text,
                             const char *type)
{
    /* libmicrohttpd takes what it only reads as not const */
    union {
        const char *in;
        void *out;
    } bytes = {.in = text.p};
    struct MHD_Response *r =
        MHD_create_response_from_buffer(text.n, bytes.out, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    enum MHD_Result done = MHD_add_response_header(r, "Content-Type", type);
    if (done == MHD_YES)
        done = MHD_add_response_header(r, "Cache-Control", "no-cache");
    if (done == MHD_YES)
        done = MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    if (done == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        done = MHD_add_response_header(r, "Allow", "GET, HEAD");
    if (done == MHD_YES)
        done = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result answer(void *payload, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version,
                              const char *upload, size_t *upload_bytes, void **state)
{
    static const char plain[] = "text/plain; charset=utf-8";
    const served_page *page = payload;
    (void)version;
    (void)upload;
    (void)upload_bytes;
    (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return reply(c, MHD_HTTP_METHOD_NOT_ALLOWED, ridge_str_of("GET or HEAD\n"),
                     plain);
    if (strcmp(url, "/") != 0 && strcmp(url, "/index.html") != 0)
        return reply(c, MHD_HTTP_NOT_FOUND, ridge_str_of("the page is at /\n"), plain);
    return reply(c, MHD_HTTP_OK, page->html, "text/html; charset=utf-8");
}

ridge_status page_server_open(ridge_ctx *cx, int port, ridge_str page, page_server *out)
{
    const struct sockaddr_in here = {.sin_family = AF_INET,
                                     .sin_port = htons((uint16_t)port),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    served_page *served = ridge_new(ridge_ctx_arena(cx), served_page, 1);
    if (!served)
        return ridge_fail_nomem(cx);
    served->html = page;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL,
        answer, served, MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_MOST_S, MHD_OPTION_END);
    if (!daemon) {
        return ridge_fail(cx, RIDGE_E_IO,
                          "port %d of 127.0.0.1 cannot be had: take another, or "
                          "--port 0 for any",
                          port);
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    *out = (page_server){.port = info ? info->port : port, .daemon = daemon};
    return RIDGE_OK;
}

void page_server_close(page_server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}
