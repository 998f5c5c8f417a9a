#include "device_cuda_library.h"

#include <dlfcn.h>
#include <string.h>

/* A library's name for the loader, which LD_LIBRARY_PATH may lead elsewhere, and where
 * it was when Ridge was built: from CMake. */
static const char *const blas_files[] = {RIDGE_CUBLASLT_NAME, RIDGE_CUBLASLT_FILE};
static const char *const nccl_files[] = {RIDGE_NCCL_NAME, RIDGE_NCCL_FILE};

#define CALL_NAME(name) #name,
static const char *const blas_names[] = {RIDGE__BLAS_CALL_LIST(CALL_NAME)};
static const char *const nccl_names[] = {RIDGE__NCCL_CALL_LIST(CALL_NAME)};
#undef CALL_NAME

_Static_assert(sizeof(ridge__blas_calls) == RIDGE_COUNT_OF(blas_names) * sizeof(void *),
               "one pointer per name");
_Static_assert(sizeof(ridge__nccl_calls) == RIDGE_COUNT_OF(nccl_names) * sizeof(void *),
               "one pointer per name");

static void *library_open(const char *const files[2])
{
    void *library = NULL;
    for (int i = 0; i < 2 && library == NULL; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/** Fill n pointers, which lie as an array at calls, by name. */
static ridge_status calls_find(ridge_ctx *cx, const char *const files[2],
                               const char *const *names, size_t n, void *calls)
{
    void *library = library_open(files);
    if (library == NULL) {
        const char *why = dlerror();
        return ridge_fail(cx, RIDGE_E_IO,
                          "cannot open %s: %s: set LD_LIBRARY_PATH to its folder",
                          files[0], why == NULL ? "not found" : why);
    }
    for (size_t i = 0; i < n; i++) {
        void *call = dlsym(library, names[i]);
        if (call == NULL)
            return ridge_fail(cx, RIDGE_E_IO, "%s lacks %s: take a newer one", files[0],
                              names[i]);
        memcpy((char *)calls + i * sizeof call, &call, sizeof call);
    }
    return RIDGE_OK;
}

ridge_status ridge__blas_calls_open(ridge_ctx *cx, ridge__blas_calls *out)
{
    return calls_find(cx, blas_files, blas_names, RIDGE_COUNT_OF(blas_names), out);
}

ridge_status ridge__nccl_calls_open(ridge_ctx *cx, ridge__nccl_calls *out)
{
    return calls_find(cx, nccl_files, nccl_names, RIDGE_COUNT_OF(nccl_names), out);
}
