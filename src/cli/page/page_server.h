/*
 * One page served to this machine's browsers: the web page, on 127.0.0.1 alone.
 */
#ifndef RIDGE_CLI_PAGE_SERVER_H
#define RIDGE_CLI_PAGE_SERVER_H

#include "ridge/base.h"

typedef struct page_server {
    int port; /* that it listens on */
    void *daemon;
} page_server;

/**
 * Serve a page at / until the server is closed. It answers GET and HEAD of / and
 * /index.html, and nothing else.
 * @param port  of 127.0.0.1; 0: any that is free
 * @param page  HTML; borrowed until the server is closed
 * @errors E_IO the port is taken; E_ARG this build has no server
 * @threads its own, one
 */
RIDGE_NODISCARD ridge_status page_server_open(ridge_ctx *cx, int port, ridge_str page,
                                              page_server *out);
void page_server_close(page_server *server);

#endif
