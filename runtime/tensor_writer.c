/* Writing a .safetensors file in a stream: header first, the whole size reserved on the disk (so a
 * full disk shows here and not as a fault in the middle), then each tensor through a mapping of its
 * own bytes, then fsync, rename, and fsync of the folder. Before the rename the file has a
 * temporary name beside the final one, and is removed when anything fails. A file that is replaced
 * gives its mode and owner to the new one.
 *
 * Outputs were looked at before the training (outputs.c). Where one cannot be written in the end,
 * the file is kept elsewhere: beside it, in the working folder, or in that for temporary files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "device.h"
#include "tensors.h"

/* The temporary file of this process's only writer, for writer_remove_unfinished. */
static char unfinished[4096];
static atomic_bool is_unfinished;

static void remember(const char *temporary) {
    snprintf(unfinished, sizeof unfinished, "%s", temporary);
    atomic_store(&is_unfinished, strlen(temporary) < sizeof unfinished);
}

void writer_remove_unfinished(void) {
    if (atomic_exchange(&is_unfinished, false)) unlink(unfinished);
}

static const char *writer_type(FileType t) {
    switch (t) {
    case FT_F64: return "F64";
    case FT_BF16: return "BF16";
    default: return "F32";
    }
}

static int failed(TensorWriter *w, char *error, const char *what, int number) {
    snprintf(error, ERROR_BYTES, "cannot %s %s: %s", what, w->target.path, strerror(number));
    return EXIT_ENVIRONMENT;
}

/* A tensor whose name cannot stand in the header beside the others, or NULL. Names come from the
 * plan: they need not be UTF-8. */
static const char *impossible_name(const TensorPlan *tensor, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        json_t *name = json_string(tensor[i].name);
        json_decref(name);
        if (!name || !strcmp(tensor[i].name, "__metadata__")) return tensor[i].name;
    }
    return NULL;
}

/* The header's text, padded with spaces so that the data start at a multiple of 8. */
static char *header_text(const TensorPlan *tensor, uint32_t n, size_t *length) {
    json_t *root = json_object();
    json_object_set_new(root, "__metadata__", json_pack("{s:s}", "format", "pt"));
    uint64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const TensorPlan *t = &tensor[i];
        json_t *shape = json_array();
        for (int k = 0; k < t->rank; k++) json_array_append_new(shape, json_integer(t->dim[k]));
        json_object_set_new(root, t->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", writer_type(t->type),
                                      "shape", shape, "data_offsets", (json_int_t)at,
                                      (json_int_t)(at + t->bytes)));
        at += t->bytes;
    }
    size_t need = json_dumpb(root, NULL, 0, JSON_COMPACT);
    size_t padded = align_up(need, 8);
    char *text = malloc(padded + 8);
    if (text) {
        json_dumpb(root, text + 8, need, JSON_COMPACT);
        memset(text + 8 + need, ' ', padded - need);
        uint64_t size = padded;
        memcpy(text, &size, sizeof size);
    }
    json_decref(root);
    *length = padded + 8;
    return text;
}

static uint64_t lay_out(TensorPlan *tensor, uint32_t n, uint64_t start) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t elements = 1;
        for (int k = 0; k < tensor[i].rank; k++) elements *= (uint64_t)tensor[i].dim[k];
        tensor[i].bytes = elements * file_type_bytes(tensor[i].type);
        tensor[i].offset = start;
        start += tensor[i].bytes;
    }
    return start;
}

static int reserve(TensorWriter *w, const char *header, size_t length, uint64_t size, char *error) {
    int number;
    do { /* a signal during the save is no reason to lose it */
        number = posix_fallocate(w->fd, 0, (off_t)size);
    } while (number == EINTR);
    if (number) return failed(w, error, "write", number);
    for (size_t done = 0; done < length;) {
        ssize_t put = pwrite(w->fd, header + done, length - done, (off_t)done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return failed(w, error, "write", put ? errno : EIO);
        done += (size_t)put;
    }
    return 0;
}

/* Makes the temporary file beside w->target. */
static int open_beside(TensorWriter *w, const char *header, size_t length, uint64_t size,
                       char *error) {
    const Target *t = &w->target;
    if (asprintf(&w->temporary, "%s.part-%ld", t->file, (long)getpid()) < 0) {
        w->temporary = NULL;
        return failed(w, error, "write", ENOMEM);
    }
    remember(w->temporary);
    unlink(w->temporary); /* left by another process of that number */
    w->fd = open(w->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int code =
        w->fd < 0 ? failed(w, error, "write", errno) : reserve(w, header, length, size, error);
    if (code) {
        writer_abandon(w);
        return code;
    }
    if (!t->exists) return 0;
    if (fchown(w->fd, t->now.st_uid, t->now.st_gid)) errno = 0; /* only root may: no matter */
    if (fchmod(w->fd, t->now.st_mode & 07777)) errno = 0;
    return 0;
}

/* Another place for the file: its name in the folder, which ends with a slash. */
static int open_elsewhere(TensorWriter *w, const char *folder, const char *header, size_t length,
                          uint64_t size, char *error) {
    const char *slash = strrchr(w->target.path, '/');
    char reason[ERROR_BYTES];
    Target first = w->target;
    free(w->kept);
    if (asprintf(&w->kept, "%s%s.kept-%ld", folder, slash ? slash + 1 : w->target.path,
                 (long)getpid()) < 0)
        w->kept = NULL;
    int code = w->kept ? target_find(&w->target, w->kept, reason) : EXIT_ENVIRONMENT;
    if (!code) code = target_check(&w->target, reason);
    if (!code) code = open_beside(w, header, length, size, reason);
    if (!code) w->why = strdup(error);
    if (code) w->target = first;
    return code;
}

int writer_open(TensorWriter *w, const char *path, TensorPlan *tensor, uint32_t n, char *error) {
    *w = (TensorWriter){.fd = -1, .tensor = tensor, .n = n};
    const char *name = impossible_name(tensor, n);
    if (name) {
        snprintf(error, ERROR_BYTES, "%s: no tensor in it can be called `%.100s`", path, name);
        return EXIT_CORRUPT;
    }
    lay_out(tensor, n, 0);
    size_t length;
    char *header = header_text(tensor, n, &length);
    int code = target_find(&w->target, path, error);
    if (!header) return failed(w, error, "write", ENOMEM);
    uint64_t size = lay_out(tensor, n, length);
    if (!code) code = target_check(&w->target, error);
    if (!code) code = open_beside(w, header, length, size, error);
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/", temporary ? temporary : "/tmp");
    if (code && open_elsewhere(w, "", header, length, size, error) &&
        open_elsewhere(w, folder, header, length, size, error)) {
        free(header);
        free(w->kept);
        w->kept = NULL;
        return code;
    }
    free(header);
    return 0;
}

int writer_map(TensorWriter *w, uint32_t i, void **at, char *error) {
    const TensorPlan *t = &w->tensor[i];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), inside = t->offset % page;
    *at = NULL;
    if (!t->bytes) return 0;
    w->map_bytes = t->bytes + inside;
    w->map = mmap(NULL, w->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd,
                  (off_t)(t->offset - inside));
    if (w->map == MAP_FAILED) {
        w->map = NULL;
        return failed(w, error, "map", errno);
    }
    *at = (char *)w->map + inside;
    return 0;
}

void writer_unmap(TensorWriter *w) {
    if (w->map) munmap(w->map, w->map_bytes);
    w->map = NULL;
}

static void forget(TensorWriter *w) {
    free(w->temporary);
    free(w->kept);
    free(w->why);
    w->temporary = w->kept = w->why = NULL;
}

/* The name is on the disk when its folder is; where a folder cannot be synced, that is all. */
static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    if (fsync(fd)) errno = 0;
    close(fd);
}

/* The complete file gets its name. Where something has taken the name since it was looked at, the
 * file gets another one beside it. */
static int give_name(TensorWriter *w, char *error) {
    Target *t = &w->target;
    if (!rename(w->temporary, t->file)) return 0;
    int code = failed(w, error, "write", errno);
    char *beside = NULL;
    if (w->kept || asprintf(&beside, "%s.kept-%ld", t->file, (long)getpid()) < 0) return code;
    if (rename(w->temporary, beside)) {
        free(beside);
        return code;
    }
    w->kept = beside;
    w->why = strdup(error);
    return 0;
}

int writer_commit(TensorWriter *w, char *error) {
    writer_unmap(w);
    int code = 0;
    if (fsync(w->fd)) code = failed(w, error, "write", errno);
    if (close(w->fd) && !code) code = failed(w, error, "write", errno);
    w->fd = -1;
    if (!code) code = give_name(w, error);
    if (code) {
        writer_abandon(w);
        return code;
    }
    atomic_store(&is_unfinished, false);
    sync_folder(w->target.folder);
    if (w->kept) {
        snprintf(error, ERROR_BYTES, "%.300s\nhelp: the file was kept as %.150s",
                 w->why ? w->why : "", w->kept);
        code = EXIT_ENVIRONMENT;
    }
    forget(w);
    return code;
}

void writer_abandon(TensorWriter *w) {
    writer_unmap(w);
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
    if (w->temporary) unlink(w->temporary);
    if (w->temporary) atomic_store(&is_unfinished, false);
    forget(w);
}
