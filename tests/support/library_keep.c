/* For programs that load Open MPI under LeakSanitizer: what it loads is not unloaded,
 * so that its leaks can be told by the name of the library, and left out by
 * openmpi.supp. */

int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
