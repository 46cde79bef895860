/* TensorBoard's event files. A file is a row of records (TFRecord): the length of the data in 8
 * bytes, a checksum of these, the data, its checksum. A checksum is CRC-32C, turned by 15 bits,
 * plus a constant. The data of a record is a protobuf message:
 *
 *   Event       1 wall_time: double   2 step: int64   3 file_version: string   5 summary: Summary
 *               7 session_log: SessionLog
 *   Summary     1 value: Value, repeated
 *   Value       1 tag: string   2 simple_value: float
 *   SessionLog  1 status: 1 = start
 *
 * The first event says the version. The second starts a session at a step: in earlier files of the
 * same folder, by name, TensorBoard drops this step and later ones, so the attempts of a run that
 * continues from a checkpoint are one curve. Everything is little-endian. Nothing is allocated
 * after the file was opened, and each event reaches the file before the next step. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "event_file.h"
#include "util.h"

enum { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2, WIRE_FLOAT = 5 };

static uint32_t crc32c(const uint8_t *at, size_t n) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static uint32_t checksum(const uint8_t *at, size_t n) {
    uint32_t crc = crc32c(at, n);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static size_t put_varint(uint8_t *to, uint64_t x) {
    size_t n = 0;
    for (; x >= 0x80; x >>= 7) to[n++] = (uint8_t)(x | 0x80);
    to[n++] = (uint8_t)x;
    return n;
}

/* The key of a field and, where it has one, the length of what follows. */
static size_t put_key(uint8_t *to, uint32_t field, uint32_t wire) {
    return put_varint(to, field << 3 | wire);
}
static size_t put_bytes(uint8_t *to, uint32_t field, const void *from, size_t bytes) {
    size_t n = put_key(to, field, WIRE_BYTES);
    n += put_varint(to + n, bytes);
    memcpy(to + n, from, bytes);
    return n + bytes;
}

double wall_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_record(EventFile *e, const uint8_t *data, size_t bytes, char *error) {
    uint8_t head[12];
    uint64_t length = bytes;
    memcpy(head, &length, 8);
    uint32_t of_length = checksum(head, 8), of_data = checksum(data, bytes);
    memcpy(head + 8, &of_length, 4);
    if (fwrite(head, 12, 1, e->file) == 1 && fwrite(data, bytes, 1, e->file) == 1 &&
        fwrite(&of_data, 4, 1, e->file) == 1 && !fflush(e->file))
        return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "cannot write %.300s: %s", e->path, strerror(errno));
}

/* ---- opening ---- */

static int make_folder(const char *folder, char *error) {
    char path[PATH_MAX];
    struct stat st;
    size_t n = strlen(folder);
    if (n < sizeof path) memcpy(path, folder, n + 1);
    for (size_t i = 1; n < sizeof path && i <= n; i++) {
        if (path[i] && path[i] != '/') continue;
        char c = path[i];
        path[i] = 0;
        int made = mkdir(path, 0777);
        if (made && errno != EEXIST && stat(path, &st)) break;
        path[i] = c;
    }
    if (!stat(folder, &st)) {
        if (S_ISDIR(st.st_mode)) return 0;
        errno = ENOTDIR;
    }
    return fail_with(error, EXIT_ENVIRONMENT, "--tensorboard %.300s: cannot make this folder: %s",
                     folder, strerror(n < sizeof path ? errno : ENAMETOOLONG));
}

/* A name that no other run takes, after those of runs before it; TensorBoard looks for `tfevents`
 * in it. */
static int make_file(EventFile *e, const char *folder, char *error) {
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    for (;;) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        int n = snprintf(e->path, sizeof e->path, "%s/events.out.tfevents.%010lld.%09ld.%s.%ld",
                         folder, (long long)t.tv_sec, t.tv_nsec, host, (long)getpid());
        int fd = n < (int)sizeof e->path
                     ? open(e->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                     : (errno = ENAMETOOLONG, -1);
        if (fd < 0 && errno == EEXIST) continue;
        e->file = fd < 0 ? NULL : fdopen(fd, "w");
        if (e->file) return 0;
        snprintf(error, ERROR_BYTES, "--tensorboard %.300s: cannot make a file in it: %s", folder,
                 strerror(errno));
        if (fd >= 0) close(fd);
        return EXIT_ENVIRONMENT;
    }
}

/* ---- events in their order ---- */

/* An event's time, and its step unless that is negative. */
static size_t put_head(uint8_t *to, int64_t step) {
    double time = wall_time();
    size_t n = put_key(to, 1, WIRE_DOUBLE);
    memcpy(to + n, &time, 8);
    n += 8;
    if (step < 0) return n;
    n += put_key(to + n, 2, WIRE_VARINT);
    return n + put_varint(to + n, (uint64_t)step);
}

int event_file_open(EventFile *e, const char *folder, int64_t step, char *error) {
    static const char version[] = "brain.Event:2";
    static const uint8_t start[] = {1 << 3 | WIRE_VARINT, 1};
    int code = make_folder(folder, error);
    if (!code) code = make_file(e, folder, error);
    if (code) return code;
    setvbuf(e->file, e->buffer, _IOFBF, sizeof e->buffer);
    size_t n = put_head(e->record, -1);
    n += put_bytes(e->record + n, 3, version, sizeof version - 1);
    code = write_record(e, e->record, n, error);
    n = put_head(e->record, step);
    n += put_bytes(e->record + n, 7, start, sizeof start);
    if (!code && step >= 0) code = write_record(e, e->record, n, error);
    if (code) unlink(e->path);
    return code;
}

void event_file_close(EventFile *e) {
    if (e->file) fclose(e->file);
    e->file = NULL;
}

/* ---- events ---- */

void event_begin(EventFile *e) {
    e->n = 0;
    e->full = false;
}

void event_scalar(EventFile *e, const char *group, const char *name, double value) {
    enum { AROUND = 40 }; /* keys, lengths, the number */
    uint8_t *to = e->summary + e->n;
    size_t g = strlen(group), bytes = g + 1 + strlen(name);
    float number = (float)value;
    if (!e->file) return;
    if ((e->full |= bytes + AROUND > sizeof e->summary - e->n)) return;
    uint8_t length[10];
    size_t inner = 1 + put_varint(length, bytes) + bytes + 1 + sizeof number;
    size_t n = put_key(to, 1, WIRE_BYTES);
    n += put_varint(to + n, inner);
    n += put_key(to + n, 1, WIRE_BYTES);
    n += put_varint(to + n, bytes);
    memcpy(to + n, group, g);
    to[n + g] = '/';
    memcpy(to + n + g + 1, name, bytes - g - 1);
    n += bytes;
    n += put_key(to + n, 2, WIRE_FLOAT);
    memcpy(to + n, &number, sizeof number);
    e->n += n + sizeof number;
}

int event_write(EventFile *e, int64_t step, char *error) {
    if (!e->file) return 0;
    if (e->full) { /* names come from the plan, and may be of any length */
        return fail_with(error, EXIT_CORRUPT, "--tensorboard: the metrics' names are too long");
    }
    size_t n = put_head(e->record, step);
    n += put_bytes(e->record + n, 5, e->summary, e->n);
    return write_record(e, e->record, n, error);
}
