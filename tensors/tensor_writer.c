/* Writes weights as a stream: to a .safetensors file, or to a folder of Hugging Face's layout,
 * which has one file, or several and their index, and config.json (tensor_files.c says what they
 * contain).
 *
 * First each file's header is written and the whole size of all files is reserved on the disk, so a
 * full disk is noticed here and not as a fault in the middle. Then each tensor is written through a
 * mapping of its own bytes; then come fsync, rename, and fsync of the folder. Before the rename a
 * file has a temporary name next to the final one, files of a folder lie in a temporary folder, and
 * all of them are removed if anything fails. Temporary names end with a random number, since
 * process numbers repeat in containers and on other hosts. A replaced file passes its mode and
 * owner on to the new one.
 *
 * A new folder appears by one rename. In an existing folder, files with other names are left alone.
 * The old weights leave it before the new config.json appears, and the new weights come last: at no
 * moment do old and new files together form something that loads. Meanwhile the temporary folder,
 * in which old and new files lie, has a name that nothing removes.
 *
 * Outputs are checked before the training (outputs.c). If one cannot be written in the end, it is
 * kept elsewhere: next to it, in the working folder, or in the folder for temporary files.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "hf_config.h"
#include "tensors.h"

/* The temporary files of this process's only writer, and their folder, for
 * writer_remove_unfinished. Paths are freed when the next writer is opened: a signal handler may be
 * reading them. */
static Arena *paths;
static char *unfinished[WRITER_FILES + 32], *unfinished_folder;
static atomic_int n_unfinished;

void writer_remove_unfinished(void) {
    for (int n = atomic_exchange(&n_unfinished, 0); n > 0; n--) unlink(unfinished[n - 1]);
    if (unfinished_folder) rmdir(unfinished_folder);
}

void writer_remember(char *path) {
    int n = atomic_load(&n_unfinished);
    CHECK(n < (int)ARRAY_LEN(unfinished));
    unfinished[n] = path;
    atomic_store(&n_unfinished, n + 1);
}

void writer_forget_unfinished(void) {
    atomic_store(&n_unfinished, 0);
    unfinished_folder = NULL;
}

static int report_failure(TensorWriter *w, char *error, const char *what, int number) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot %s %s: %s", what, w->target.path,
                     strerror(number));
}

static char *path_in(const char *folder, const char *name) {
    return arena_printf(paths, "%s/%s", folder, name);
}

/* ---- making the temporary files */

static int reserve_space(int fd, uint64_t size) {
    int number;
    do {
        number = posix_fallocate(fd, 0, (off_t)size);
    } while (number == EINTR);
    return number;
}

static int put_header(TensorWriter *w, uint32_t i) {
    Arena *a = arena_new();
    uint64_t bytes;
    const char *header = tensor_header(w->tensor, &w->piece[i], SAVE_ALIGN, a, &bytes);
    int number = file_put(w->file[i].fd, 0, header, bytes);
    arena_free(a);
    return number;
}

static int create(TensorWriter *w, uint32_t i, char *path, char *error) {
    WriterFile *f = &w->file[i];
    f->path = path;
    writer_remember(path);
    f->fd = part_create(path);
    if (f->fd < 0) {
        atomic_fetch_sub(&n_unfinished, 1); /* if it exists, it belongs to another run */
        return report_failure(w, error, "write", errno);
    }
    int number = reserve_space(f->fd, w->piece[i].size);
    if (!number) number = put_header(w, i);
    return number ? report_failure(w, error, "write", number) : 0;
}

static void unlock(TensorWriter *w) {
    if (w->lock > 0) close(w->lock);
    w->lock = 0;
}

static int create_file(TensorWriter *w, char *error) {
    const Target *t = &w->target;
    char *path = arena_printf(paths, "%s.part-%llu", t->file, w->number);
    int code = create(w, 0, path, error), fd = w->file->fd;
    if (!code) w->lock = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (code || !t->exists) return code;
    if (fchown(fd, t->now.st_uid, t->now.st_gid)) errno = 0; /* only root may change it: ignored */
    if (fchmod(fd, t->now.st_mode & 07777)) errno = 0;
    return 0;
}

/* Writes a file of the folder; frees the text. */
static int write_bytes(TensorWriter *w, const char *name, char *text, size_t n, char *error) {
    char *path = path_in(w->temporary, name);
    if (!text) return report_failure(w, error, "write", ENOMEM);
    writer_remember(path);
    int number = file_make(path, text, n);
    free(text);
    return number ? report_failure(w, error, "write", number) : 0;
}

static int write_text(TensorWriter *w, const char *name, char *text, char *error) {
    return write_bytes(w, name, text, text ? strlen(text) : 0, error);
}

/* Copies those files of the folder that the weights came from which describe no weights. */
static int copy_companions(TensorWriter *w, char *error) {
    int code = 0;
    for (int i = 0; w->form->origin && companion_names[i] && !code; i++) {
        size_t n;
        char *text = read_file(path_in(w->form->origin, companion_names[i]), &n);
        if (text)
            code = write_bytes(w, companion_names[i], text, n, error);
        else if (errno != ENOENT)
            code = report_failure(w, error, "copy a tokenizer file to", errno);
    }
    return code;
}

static int write_texts(TensorWriter *w, char *error) {
    int code = copy_companions(w, error);
    if (code) return code;
    if (*w->form->config) {
        char *text = tensor_config_text(w->form->config, w->n ? w->tensor[0].type : FT_F32);
        if (!text)
            return fail_with(error, EXIT_CORRUPT, "the plan's config.json is not a JSON object");
        if (w->form->origin) text = hf_config_carry(text, path_in(w->form->origin, CONFIG_FILE));
        code = write_text(w, CONFIG_FILE, text, error);
    }
    if (code || w->n_piece == 1) return code;
    return write_text(w, INDEX_FILE, tensor_index_text(w->tensor, w->piece, w->n_piece, false),
                      error);
}

static int create_folder(TensorWriter *w, char *error) {
    const char *join = w->target.exists ? "/" : "";
    w->temporary = arena_printf(paths, "%s%s.part-%llu", w->target.file, join, w->number);
    do {
        unlock(w);
        if (mkdir(w->temporary, 0777)) return report_failure(w, error, "write", errno);
        w->lock = open(w->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (w->lock < 0 ? errno == ENOENT : !part_lock(w->lock));
    unfinished_folder = w->temporary;
    int code = 0;
    for (uint32_t i = 0; i < w->n_piece && !code; i++)
        code = create(w, i, path_in(w->temporary, w->piece[i].name), error);
    return code ? code : write_texts(w, error);
}

/* Closes and removes the temporary files. */
void writer_abandon(TensorWriter *w) {
    writer_unmap(w);
    for (uint32_t i = 0; i < w->n_piece; i++) {
        if (w->file[i].fd >= 0) close(w->file[i].fd);
        w->file[i].fd = -1;
    }
    writer_remove_unfinished();
    writer_forget_unfinished();
    unlock(w);
}

static int create_all(TensorWriter *w, char *error) {
    int code = target_check(&w->target, w->form->folder, error);
    if (!code) code = w->form->folder ? create_folder(w, error) : create_file(w, error);
    if (code) writer_abandon(w);
    return code;
}

/* Creates the files in another folder, whose path ends with a slash, under the same name. */
static int create_elsewhere(TensorWriter *w, const char *folder, char *error) {
    char reason[ERROR_BYTES];
    Target first = w->target;
    const char *slash = strrchr(first.file, '/');
    w->kept =
        arena_printf(paths, "%s%s.kept-%llu", folder, slash ? slash + 1 : first.file, w->number);
    int code = target_find(&w->target, w->kept, reason);
    if (!code) code = create_all(w, reason);
    if (!code) w->why = arena_strdup(paths, error);
    if (code) w->target = first;
    return code;
}

int writer_open(TensorWriter *w, const SaveForm *form, TensorPlan *tensor, uint32_t n,
                char *error) {
    *w = (TensorWriter){.form = form, .tensor = tensor, .n = n};
    arena_free(paths);
    paths = arena_new();
    if (getrandom(&w->number, sizeof w->number, 0) != (ssize_t)sizeof w->number)
        return report_failure(w, error, "name", errno);
    bool twice;
    const char *name = tensor_bad_name(&tensor->name, sizeof *tensor, n, &twice);
    if (name)
        return fail_with(error, EXIT_CORRUPT,
                         twice ? "%s: two tensors in it would be called `%.100s`"
                               : "%s: no tensor in it can be called `%.100s`",
                         form->path, name);
    int code = target_find(&w->target, form->path, error);
    w->piece = tensor_layout(tensor, n, form, paths, &w->n_piece);
    w->file = arena_array(paths, WriterFile, n + 1);
    for (uint32_t i = 0; i < w->n_piece; i++) w->file[i].fd = -1;
    if (!code) code = create_all(w, error);
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/", temporary ? temporary : "/tmp");
    bool made = !code || !w->n_piece || !create_elsewhere(w, "", error) ||
                !create_elsewhere(w, folder, error);
    return made ? 0 : code;
}

/* ---- filling them */

/* The byte of its file with which tensor i begins. */
static uint64_t writer_place(const TensorWriter *w, uint32_t i) {
    return w->piece[w->tensor[i].piece].header + w->tensor[i].offset;
}

int writer_map(TensorWriter *w, uint32_t i, void **at, char *error) {
    const TensorPlan *t = &w->tensor[i];
    uint64_t begin = writer_place(w, i), inside = begin % (uint64_t)sysconf(_SC_PAGESIZE);
    *at = NULL;
    if (!t->bytes) return 0;
    w->map_bytes = t->bytes + inside;
    w->map = mmap(NULL, w->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->file[t->piece].fd,
                  (off_t)(begin - inside));
    if (w->map == MAP_FAILED) {
        w->map = NULL;
        return report_failure(w, error, "map", errno);
    }
    *at = (char *)w->map + inside;
    return 0;
}

void writer_unmap(TensorWriter *w) {
    if (w->map) munmap(w->map, w->map_bytes);
    w->map = NULL;
}

int writer_put(TensorWriter *w, uint32_t i, const StoredPart *s, int64_t first, int64_t n,
               const void *from, char *error) {
    const TensorPlan *t = &w->tensor[i];
    int number = part_write(w->file[t->piece].fd, writer_place(w, i), s, file_type_bytes(t->type),
                            first, n, from);
    return number ? report_failure(w, error, "write", number) : 0;
}

/* ---- the final names */

/* A name is durable once its folder is synced; if a folder cannot be synced, there is nothing more
 * to do. */
static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    if (fsync(fd)) errno = 0;
    close(fd);
}

static int close_pieces(TensorWriter *w, char *error) {
    int number = 0;
    for (uint32_t i = 0; i < w->n_piece; i++) {
        WriterFile *f = &w->file[i];
        if (fsync(f->fd)) number = errno;
        if (close(f->fd)) number = errno;
        f->fd = -1;
    }
    return number ? report_failure(w, error, "write", number) : 0;
}

/* Gives the complete file or folder its name. If the name was taken since it was checked, it gets
 * another name next to it. */
static int give_name(TensorWriter *w, const char *from, char *error) {
    Target *t = &w->target;
    if (!rename(from, t->file)) return 0;
    int code = report_failure(w, error, "write", errno);
    char *beside = arena_printf(paths, "%s.kept-%llu", t->file, w->number);
    if (w->kept || rename(from, beside)) return code;
    w->kept = beside;
    w->why = arena_strdup(paths, error);
    return 0;
}

static bool is_new(const TensorWriter *w, const char *name) {
    for (uint32_t i = 0; i < w->n_piece; i++)
        if (!strcmp(w->piece[i].name, name)) return true;
    return w->n_piece > 1 && !strcmp(name, INDEX_FILE);
}

/* Removes the weights of an earlier save that the new ones do not replace. */
static void remove_old(const TensorWriter *w) {
    DIR *d = opendir(w->target.file);
    for (struct dirent *e; d && (e = readdir(d));)
        if (writer_makes(e->d_name) && strcmp(e->d_name, CONFIG_FILE) &&
            !writer_copies(e->d_name) && !is_new(w, e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    sync_folder(w->target.file);
}

static int move_file(const char *name, const char *folder, const char *other) {
    return rename(path_in(folder, name), path_in(other, name)) ? errno : 0;
}

static bool is_in(const char *folder, const char *name) {
    return !access(path_in(folder, name), F_OK);
}

static char *old_name(const char *name) { return arena_printf(paths, "%s.old", name); }

static int move_in(TensorWriter *w, const char *name, char *error) {
    int number = move_file(name, w->temporary, w->target.file);
    return number ? report_failure(w, error, "write", number) : 0;
}

/* Moves the old file of that name, if there is one, into the temporary folder. */
static int take_out(TensorWriter *w, const char *name, char *error) {
    struct stat st;
    const char *path = path_in(w->target.file, name);
    if (lstat(path, &st)) return errno == ENOENT ? 0 : report_failure(w, error, "write", errno);
    if (S_ISDIR(st.st_mode)) return report_failure(w, error, "write", EISDIR);
    int failed = rename(path, path_in(w->temporary, old_name(name)));
    return failed ? report_failure(w, error, "write", errno) : 0;
}

static int exchange(TensorWriter *w, const char *name, char *error) {
    int code = take_out(w, name, error);
    return code ? code : move_in(w, name, error);
}

static void put_new_back(const TensorWriter *w, const char *name) {
    if (!is_in(w->temporary, name)) move_file(name, w->target.file, w->temporary);
}

static void put_old_back(const TensorWriter *w, const char *name) {
    const char *old = path_in(w->temporary, old_name(name));
    if (!access(old, F_OK)) rename(old, path_in(w->target.file, name));
}

/* The new files are together again, and so are the old ones, whose weights come last. */
static void put_back(const TensorWriter *w, const char **text) {
    if (w->n_piece > 1) put_new_back(w, INDEX_FILE);
    for (uint32_t i = 0; i < w->n_piece; i++) put_new_back(w, w->piece[i].name);
    for (; *text; text++) {
        put_new_back(w, *text);
        put_old_back(w, *text);
    }
    for (uint32_t i = 0; i < w->n_piece; i++) put_old_back(w, w->piece[i].name);
    put_old_back(w, INDEX_FILE);
    put_old_back(w, WEIGHTS_FILE);
    sync_folder(w->target.file);
}

static bool same_contents(const char *a, const char *b) {
    size_t n = 0, m = 0;
    char *x = read_file(a, &n), *y = read_file(b, &m);
    bool same = x && y && n == m && !memcmp(x, y, n);
    free(x);
    free(y);
    return same;
}

/* The new config and companions, up to NULL; none if the folder has them all. */
static const char **new_texts(const TensorWriter *w) {
    const char **text = arena_array(paths, const char *, 32);
    bool differ = false;
    uint32_t n = 0;
    for (int i = -1; i < 0 || companion_names[i]; i++) {
        const char *name = i < 0 ? CONFIG_FILE : companion_names[i];
        if (!is_in(w->temporary, name)) continue;
        CHECK(n < 31);
        text[n++] = name;
        differ |= !same_contents(path_in(w->temporary, name), path_in(w->target.file, name));
    }
    text[differ ? n : 0] = NULL;
    return text;
}

static void remove_temporary(const TensorWriter *w) {
    DIR *d = opendir(w->temporary);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(w->temporary);
}

/* Moves the files into an existing folder. Without new texts a single file is replaced at once.
 * Otherwise the weights that stand for the others come last: the single file, or the index. An old
 * single file is then removed, since readers would prefer it to the index. */
static int fill_folder(TensorWriter *w, char *error) {
    const char **text = new_texts(w);
    bool several = w->n_piece > 1;
    int code = several || *text ? take_out(w, INDEX_FILE, error) : 0;
    if (!code && *text) code = take_out(w, WEIGHTS_FILE, error);
    sync_folder(w->target.file);
    for (int i = 0; text[i] && !code; i++) code = exchange(w, text[i], error);
    for (uint32_t i = 0; several && i < w->n_piece && !code; i++)
        code = exchange(w, w->piece[i].name, error);
    sync_folder(w->target.file);
    if (!code) code = move_in(w, several ? INDEX_FILE : w->piece[0].name, error);
    if (!code && several) code = take_out(w, WEIGHTS_FILE, error);
    if (code) {
        put_back(w, text);
        return code;
    }
    sync_folder(w->target.file);
    remove_old(w);
    remove_temporary(w);
    return 0;
}

/* If this fails in the middle, the new files stay together, and the message says where. */
static int publish_folder(TensorWriter *w, char *error) {
    sync_folder(w->temporary);
    writer_forget_unfinished();
    if (!w->target.exists) return give_name(w, w->temporary, error);
    char *safe = arena_printf(paths, "%s/kept-%llu", w->target.file, w->number);
    int code = rename(w->temporary, safe) ? report_failure(w, error, "write", errno) : 0;
    if (code) { /* under a name that the next save does not remove */
        safe = arena_printf(paths, "%s.kept-%llu", w->target.file, w->number);
        if (!rename(w->temporary, safe)) w->temporary = safe;
    } else {
        w->temporary = safe;
        code = fill_folder(w, error);
    }
    if (!code) return 0;
    w->why = arena_strdup(paths, error);
    w->kept = w->temporary;
    return 0;
}

/* Checks that the unfinished file or folder is still the one that was created under this name. */
static int check_mine(TensorWriter *w, char *error) {
    struct stat made, there;
    const char *path = w->form->folder ? w->temporary : w->file->path;
    if (w->lock <= 0 || fstat(w->lock, &made)) return 0;
    if (!lstat(path, &there) && there.st_dev == made.st_dev && there.st_ino == made.st_ino)
        return 0;
    writer_forget_unfinished();
    return fail_with(error, EXIT_ENVIRONMENT,
                     "cannot write %.200s: another program removed or replaced %.200s",
                     w->target.path, path);
}

/* Keeps the files although the disk failed while they were written: they may be damaged, but they
 * are the only copy. */
static int keep_doubtful(TensorWriter *w, char *error) {
    char *beside = arena_printf(paths, "%s.kept-%llu", w->target.file, w->number);
    char why[ERROR_BYTES];
    const char *from = w->form->folder ? w->temporary : w->file->path;
    int code = rename(from, beside);
    if (!code) {
        writer_forget_unfinished();
        memcpy(why, error, sizeof why);
        snprintf(error, ERROR_BYTES, "%.250s\nhelp: %s kept as %.150s, and may be damaged", why,
                 w->form->folder ? "the files were" : "the file was", beside);
        unlock(w);
    }
    return code;
}

int writer_commit(TensorWriter *w, char *error) {
    writer_unmap(w);
    int code = close_pieces(w, error);
    if (code && !keep_doubtful(w, error)) return code;
    if (!code) code = check_mine(w, error);
    if (!code)
        code = w->form->folder ? publish_folder(w, error) : give_name(w, w->file->path, error);
    if (code) {
        writer_abandon(w);
        return code;
    }
    writer_forget_unfinished();
    sync_folder(w->target.folder);
    if (w->kept)
        code = fail_with(error, EXIT_ENVIRONMENT, "%.300s\nhelp: %s kept as %.150s",
                         w->why ? w->why : "", w->form->folder ? "the files were" : "the file was",
                         w->kept);
    unlock(w);
    return code;
}
