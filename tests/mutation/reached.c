/* Marks which blocks of code a process enters. tests/mutation/plant links this into each object
 * that it compiles with -fsanitize-coverage=trace-pc. The marks of a module (a program, a .so) are
 * bytes of the file of its name in the folder FSDP_REACHED: a shared mapping, so that they outlive
 * a process that is killed. plant makes the files; a module without one marks nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
void __sanitizer_cov_trace_pc(void);

static char no_marks;

static char *open_marks(void) {
    char path[PATH_MAX];
    const char *folder = getenv("FSDP_REACHED");
    Dl_info module;
    if (!folder || !dladdr(__ehdr_start, &module)) return &no_marks;

    const char *slash = strrchr(module.dli_fname, '/');
    snprintf(path, sizeof path, "%s/%s", folder, slash ? slash + 1 : module.dli_fname);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return &no_marks;
    off_t size = lseek(fd, 0, SEEK_END);
    char *marks = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return marks == MAP_FAILED ? &no_marks : marks;
}

/* Weak and hidden: of the copies in a module's objects one stays, for this module alone. */
__attribute__((weak, visibility("hidden"))) void __sanitizer_cov_trace_pc(void) {
    static _Atomic(char *) of_module;
    char *marks = atomic_load(&of_module);
    if (!marks) {
        int before = errno;
        atomic_store(&of_module, marks = open_marks());
        errno = before;
    }
    if (marks != &no_marks) marks[(const char *)__builtin_return_address(0) - __ehdr_start] = 1;
}
