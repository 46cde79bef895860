/* Verifies a checkpoint: every file exists with its size, every block has its hash (read.c), the
 * header of each file agrees with the manifest, and there are no other files of tensors: readers
 * that do not know the manifest would read them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "checkpoint.h"

static int corrupt_file(const Checkpoint *k, const char *file, const char *tensor, const char *what,
                        char *error) {
    return fail_with(error, EXIT_CORRUPT, "%.200s/%.100s: %s%.100s%s%s", checkpoint_folder(k), file,
                     tensor ? "tensor " : "", tensor ? tensor : "", tensor ? ": " : "", what);
}

/* The first bytes of a file; malloc'ed. */
static char *read_start(const Checkpoint *k, const char *name, uint64_t bytes) {
    char path[CK_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", checkpoint_folder(k), name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? malloc(bytes) : NULL;
    bool failed = text && file_get(fd, 0, text, bytes);
    if (fd >= 0) close(fd);
    if (!failed) return text;
    free(text);
    return NULL;
}

/* The first tensor that only one header has, or that differs between them. */
static const char *first_difference(const json_t *have, const json_t *want) {
    const char *name;
    json_t *entry;
    json_object_foreach((json_t *)(uintptr_t)want, name, entry) {
        if (!json_equal(json_object_get(have, name), entry)) return name;
    }
    json_object_foreach((json_t *)(uintptr_t)have, name, entry) {
        if (!json_object_get(want, name)) return name;
    }
    return NULL;
}

static json_t *parse_header(const char *header, uint64_t bytes) {
    uint64_t length;
    memcpy(&length, header, sizeof length);
    if (length > bytes - sizeof length) return NULL;
    return json_loadb(header + sizeof length, length, JSON_REJECT_DUPLICATES, NULL);
}

static int cannot_read(const Checkpoint *k, const char *file, char *error) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot read %.200s/%.100s: %s", checkpoint_folder(k),
                     file, strerror(errno));
}

/* Compares a header with `text`, what it must say; its bytes have been verified. */
static int compare_header(const Checkpoint *k, const char *file, const char *text, uint64_t bytes,
                          uint64_t header, char *error) {
    char *there = read_start(k, file, header);
    if (!there) return cannot_read(k, file, error);
    json_t *want = parse_header(text, bytes), *have = parse_header(there, header);
    CHECK(want);
    const char *name = have ? first_difference(have, want) : NULL;
    int code = 0;
    if (!have)
        code = corrupt_file(k, file, NULL, "its header is not a JSON object", error);
    else if (name)
        code = corrupt_file(k, file, name, "its header does not match the manifest", error);
    json_decref(want);
    json_decref(have);
    free(there);
    return code;
}

static int compare_rank(const Checkpoint *k, const CkFile *f, const CkPiece *piece, uint32_t n,
                        Arena *a, char *error) {
    uint64_t bytes;
    const char *text = ck_header(checkpoint_contents(k), piece, n, f->class, a, &bytes);
    return compare_header(k, f->name, text, bytes, f->header, error);
}

static int compare_headers(const Checkpoint *k, char *error) {
    const CkContents *c = checkpoint_contents(k);
    int code = 0;
    for (uint32_t i = 0; i < c->n_file && !code;) {
        Arena *a = arena_new();
        uint32_t n;
        int32_t rank = c->file[i].rank;
        const CkPiece *piece = ck_pieces(c, rank, a, &n);
        for (; i < c->n_file && c->file[i].rank == rank && !code; i++)
            code = compare_rank(k, &c->file[i], piece, n, a, error);
        arena_free(a);
    }
    return code;
}

static int compare_full_files(const Checkpoint *k, char *error) {
    const CkContents *c = checkpoint_contents(k);
    int code = 0;
    for (uint32_t i = 0; i < c->n_full_file && !code; i++) {
        Arena *a = arena_new();
        uint64_t bytes;
        const char *text = ck_full_file_header(c, i, a, &bytes);
        code = compare_header(k, c->full_file[i].name, text, bytes, c->full_file[i].header, error);
        arena_free(a);
    }
    return code;
}

/* Compares the text files of form full. */
static int compare_texts(const Checkpoint *k, char *error) {
    const char *name;
    char *text;
    int code = 0;
    for (uint32_t i = 0; !code && (text = ck_text(checkpoint_contents(k), i, &name)); i++) {
        char path[CK_PATH + 64];
        size_t n = 0;
        snprintf(path, sizeof path, "%s/%s", checkpoint_folder(k), name);
        bool other = ck_is_special_file(path);
        char *there = other ? NULL : read_file(path, &n);
        if (other)
            code = corrupt_file(k, name, NULL, "not a regular file", error);
        else if (!there)
            code = errno == ENOENT ? corrupt_file(k, name, NULL, "the file is missing", error)
                                   : cannot_read(k, name, error);
        else if (n != strlen(text) || memcmp(there, text, n))
            code =
                corrupt_file(k, name, NULL, "it does not have the content that was written", error);
        free(there);
        free(text);
    }
    return code;
}

static bool is_ours(const CkContents *c, const char *name) {
    for (uint32_t i = 0; i < c->n_file; i++)
        if (!strcmp(c->file[i].name, name)) return true;
    for (uint32_t i = 0; i < c->n_full_file; i++)
        if (!strcmp(c->full_file[i].name, name)) return true;
    return false;
}

static int find_others(const Checkpoint *k, char *error) {
    const char *end = ".safetensors";
    DIR *d = opendir(checkpoint_folder(k));
    int code = 0;
    for (struct dirent *e; d && !code && (e = readdir(d));) {
        size_t n = strlen(e->d_name), m = strlen(end);
        if (n < m || strcmp(e->d_name + n - m, end) || is_ours(checkpoint_contents(k), e->d_name))
            continue;
        code = corrupt_file(k, e->d_name, NULL, "the manifest does not list this file", error);
    }
    if (d) closedir(d);
    return code;
}

int ck_verify(Checkpoint *k, char *error) {
    bool full = checkpoint_contents(k)->form == CHECKPOINT_FULL;
    int code = checkpoint_verify(k, error);
    if (!code) code = full ? compare_full_files(k, error) : compare_headers(k, error);
    if (!code) code = compare_texts(k, error);
    return code ? code : find_others(k, error);
}
