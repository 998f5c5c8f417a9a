/* Runs a fuzz target over the files of a folder: the committed corpus under ctest. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 1;
    size_t cap = 1 << 20;
    uint8_t *data = malloc(cap);
    size_t n = data == NULL ? 0 : fread(data, 1, cap, f);
    fclose(f);
    /* An exact copy, so that reading one byte too far is seen. */
    uint8_t *exact = malloc(n == 0 ? 1 : n);
    if (data == NULL || exact == NULL) {
        free(data);
        free(exact);
        return 1;
    }
    memcpy(exact, data, n);
    free(data);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 0;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) {
            fprintf(stderr, "no corpus folder %s\n", argv[i]);
            return 1;
        }
        for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
            char path[4096];
            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (replay_file(path) != 0)
                return 1;
            files++;
        }
        closedir(dir);
    }
    printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
