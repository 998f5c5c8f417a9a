/* A JSON file read by Ridge and printed back, for json_python.py to compare: one
 * document for each path given, or "refused" and the message. */
#include "ridge/base.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        ridge_ctx *cx = ridge_ctx_open();
        if (cx == NULL)
            return 1;
        ridge_node root;
        ridge_buf b;
        ridge_buf_init(&b, ridge_ctx_arena(cx));
        ridge_status st = ridge_json_read(cx, argv[i], &root);
        if (st == RIDGE_OK)
            st = ridge_json_write(cx, root.value, &b);
        if (st == RIDGE_OK) {
            fputs(ridge_buf_text(&b), stdout);
        } else {
            printf("refused %s\n", ridge_ctx_message(cx));
        }
        putchar('\0'); /* between documents; in none of them */
        ridge_ctx_close(cx);
    }
    return 0;
}
