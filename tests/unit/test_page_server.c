/* The server of the web page, asked over a socket of this machine. */
#include "page_server.h"

#include "near.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char page[] = "<!doctype html><title>Ridge</title>";

typedef struct reply {
    char text[4096];
    size_t n;
} reply;

static reply ask(int port, const char *request)
{
    reply r = {.n = 0};
    const struct sockaddr_in there = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(s >= 0);
    assert_int_equal(connect(s, (const struct sockaddr *)&there, sizeof there), 0);
    assert_int_equal(write(s, request, strlen(request)), strlen(request));
    for (ssize_t got = 1; got > 0 && r.n < sizeof r.text - 1;) {
        got = read(s, r.text + r.n, sizeof r.text - 1 - r.n);
        r.n += got > 0 ? (size_t)got : 0;
    }
    close(s);
    return r;
}

static page_server open_server(ridge_ctx *cx)
{
    page_server server;
    assert_int_equal(page_server_open(cx, 0, ridge_str_of(page), &server), RIDGE_OK);
    assert_true(server.port > 0);
    return server;
}

static void the_page_is_at_the_root(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    page_server server = open_server(cx);
    const reply r = ask(server.port, "GET / HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(r.text, " 200 "));
    assert_non_null(strstr(r.text, "text/html"));
    assert_non_null(strstr(r.text, page));
    page_server_close(&server);
    ridge_ctx_close(cx);
}

static void a_head_has_no_body(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    page_server server = open_server(cx);
    const reply r = ask(server.port, "HEAD /index.html HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(r.text, " 200 "));
    assert_null(strstr(r.text, page));
    page_server_close(&server);
    ridge_ctx_close(cx);
}

static void there_is_nothing_else(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    page_server server = open_server(cx);
    const reply other = ask(server.port, "GET /../etc/passwd HTTP/1.0\r\n\r\n");
    const reply post = ask(server.port, "POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
    assert_non_null(strstr(other.text, " 404 "));
    assert_non_null(strstr(post.text, " 405 "));
    assert_non_null(strstr(post.text, "Allow: GET, HEAD"));
    page_server_close(&server);
    ridge_ctx_close(cx);
}

static void a_taken_port_says_so(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    page_server server = open_server(cx), second;
    assert_int_equal(page_server_open(cx, server.port, ridge_str_of(page), &second),
                     RIDGE_E_IO);
    assert_non_null(strstr(ridge_ctx_message(cx), "cannot be had"));
    page_server_close(&server);
    page_server_close(&server); /* closed twice: nothing happens */
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_at_the_root),
        cmocka_unit_test(a_head_has_no_body),
        cmocka_unit_test(there_is_nothing_else),
        cmocka_unit_test(a_taken_port_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
