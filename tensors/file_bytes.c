/* Bytes of open files: written despite signals and short writes, and the elements of a part
 * (stored.h) written to, or read from, a tensor that begins at byte `base` of the file.
 *
 * A part is walked along the axis whose neighbours are adjacent in the file, in runs that are
 * contiguous there. Runs that follow each other in the file, such as whole rows, are written
 * together.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tensors.h"

int file_put(int fd, uint64_t at, const void *bytes, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put ? errno : EIO;
        done += (size_t)put;
    }
    return 0;
}

int file_get(int fd, uint64_t at, void *bytes, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)bytes + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got ? errno : -1;
        done += (size_t)got;
    }
    return 0;
}

int file_make(const char *path, const char *text, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int number = fd < 0 ? errno : file_put(fd, 0, text, n);
    if (!number && fsync(fd)) number = errno;
    if (fd >= 0 && close(fd) && !number) number = errno;
    return number;
}

/* ---- parts */

enum { RUN_BYTES = 64 << 10 }; /* per call; they fit on a thread's stack */

/* Elements that are contiguous in the file. */
typedef struct PartRun {
    uint64_t at;              /* in the file, of the first one */
    int64_t element, step, n; /* its number among those that are moved, from there to the next */
    uint32_t width;
} PartRun;
typedef int (*RunJob)(int fd, const PartRun *run, void *user);

static int64_t divide_up(int64_t x, int64_t by) { return x > 0 ? (x + by - 1) / by : 0; }

/* The axis along which neighbours are adjacent in the file; the last one if there is none. */
static int run_axis(const StoredPart *s) {
    int axis = s->rank - 1;
    for (int k = 0; k < s->rank; k++)
        if (s->stride[k] == 1 && s->dim[k] > 1) axis = k;
    return axis;
}

typedef struct PartWalk {
    const StoredPart *s;
    int fd, axis;
    uint64_t base;
    uint32_t width;
    int64_t first, end, below; /* elements of the part; those of the axes after `axis` */
    RunJob job;
    void *user;
} PartWalk;

/* Visits elements along the axis, at index `outer` of the axes before it and `inner` of those after
 * it. */
static int walk_axis(const PartWalk *w, int64_t outer, int64_t inner) {
    const StoredPart *s = w->s;
    int64_t row = outer * s->dim[w->axis] * w->below + inner;
    int64_t k = divide_up(w->first - row, w->below);
    int64_t to = MIN(divide_up(w->end - row, w->below), s->dim[w->axis]);
    int64_t most = s->stride[w->axis] == 1 ? RUN_BYTES / (int64_t)w->width : 1;
    int code = 0;
    for (int64_t n; k < to && !code; k += n) {
        int64_t element = row + k * w->below;
        n = MIN(to - k, most);
        PartRun run = {w->base + (uint64_t)stored_place(s, element) * w->width, element - w->first,
                       w->below, n, w->width};
        code = w->job(w->fd, &run, w->user);
    }
    return code;
}

/* Elements [first, first + n) of the part, in runs that are contiguous in the file. */
static int walk_part(int fd, uint64_t base, const StoredPart *s, uint32_t width, int64_t first,
                     int64_t n, RunJob job, void *user) {
    PartWalk w = {.s = s,
                  .fd = fd,
                  .base = base,
                  .width = width,
                  .first = first,
                  .end = first + n,
                  .job = job,
                  .user = user};
    int code = 0;
    w.axis = run_axis(w.s);
    w.below = 1;
    for (int k = w.axis + 1; k < w.s->rank; k++) w.below *= w.s->dim[k];
    int64_t rows = w.s->dim[w.axis] * w.below;
    for (int64_t o = w.first / rows; o * rows < w.end && !code; o++)
        for (int64_t i = 0; i < w.below && !code; i++) code = walk_axis(&w, o, i);
    return code;
}

/* Runs that were read from memory and follow each other in the file. */
typedef struct Collected {
    const char *memory;
    uint64_t at, n; /* where they begin, how many bytes they have */
    char bytes[RUN_BYTES];
} Collected;

static int put_collected(int fd, Collected *c) {
    uint64_t n = c->n;
    c->n = 0;
    return file_put(fd, c->at, c->bytes, n);
}

static int collect_run(int fd, const PartRun *run, void *user) {
    Collected *c = user;
    uint64_t bytes = (uint64_t)run->n * run->width, step = (uint64_t)run->step * run->width;
    bool follows = run->at == c->at + c->n && c->n + bytes <= RUN_BYTES;
    int number = follows ? 0 : put_collected(fd, c);
    const char *from = c->memory + (uint64_t)run->element * run->width;
    if (!c->n) c->at = run->at;
    char *to = c->bytes + c->n;
    c->n += bytes;
    for (int64_t k = 0; k < run->n; k++, from += step, to += run->width)
        memcpy(to, from, run->width);
    return number;
}

int part_write(int fd, uint64_t base, const StoredPart *s, uint32_t width, int64_t first, int64_t n,
               const void *from) {
    if (s->rank == 1 && s->stride[0] == 1)
        return file_put(fd, base + (uint64_t)stored_place(s, first) * width, from,
                        (size_t)n * width);
    Collected c;
    c.memory = from;
    c.at = c.n = 0;
    int number = walk_part(fd, base, s, width, first, n, collect_run, &c);
    return number ? number : put_collected(fd, &c);
}

static int read_run(int fd, const PartRun *run, void *user) {
    char bytes[RUN_BYTES], *to = user;
    int number = file_get(fd, run->at, bytes, (size_t)run->n * run->width);
    for (int64_t k = 0; k < run->n && !number; k++)
        memcpy(to + (uint64_t)(run->element + k * run->step) * run->width,
               bytes + (uint64_t)k * run->width, run->width);
    return number;
}

int part_read(int fd, uint64_t base, const StoredPart *s, uint32_t width, int64_t first, int64_t n,
              void *to) {
    return walk_part(fd, base, s, width, first, n, read_run, to);
}
