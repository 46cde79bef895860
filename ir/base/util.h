/* Small utilities that every room may use: arena, growing arrays, strings, hashing, errors.
 *
 * Sizes are bytes unless a name says otherwise. None of these functions returns NULL: running out
 * of memory in the compiler is an environment error (message, exit code 2).
 */
#ifndef FSDPC_UTIL_H
#define FSDPC_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* Exit codes of both programs. */
enum {
#define EXIT(constant, code, doc) constant = code,
#include "exit_codes.def"
#undef EXIT
};
enum { ERROR_BYTES = 512 }; /* of a message that a function writes for its caller */
/* Writes that message and returns the code. Here, since modules use it too. */
__attribute__((format(printf, 3, 4))) static inline int fail_with(char *error, int code,
                                                                  const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, ERROR_BYTES, format, args);
    va_end(args);
    return code;
}

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Raises `first` to the first i below `end` for which `holds` is true, as it is for all that
 * follow; to `end` if there is none. */
#define bisect(first, end, i, holds)                                                               \
    for (int64_t high_ = (end), i; (first) < high_;) {                                             \
        i = (first) + (high_ - (first)) / 2;                                                       \
        if (holds)                                                                                 \
            high_ = i;                                                                             \
        else                                                                                       \
            (first) = i + 1;                                                                       \
    }

static inline uint64_t align_up(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

static inline double monotonic_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int64_t monotonic_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The time of the clock in so many nanoseconds. */
static inline struct timespec clock_after(clockid_t clock, int64_t ns) {
    struct timespec t;
    clock_gettime(clock, &t);
    ns += t.tv_nsec;
    return (struct timespec){.tv_sec = t.tv_sec + ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* A signal may cut it short. */
static inline void pause_ms(int64_t ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* util.c: arena. Memory is zeroed, aligned to 16, lives until arena_free. */
typedef struct Arena Arena;
Arena *arena_new(void);
Arena *arena_child(Arena *parent); /* is freed with its parent, or before */
void arena_free(Arena *a);
void *arena_alloc(Arena *a, size_t bytes);
/* Asks the system for large pages where a block of memory is large: a page fault for every 4 KiB
 * would take a fifth of the time of a large graph. */
void prefer_large_pages(void *at, size_t size);
void *arena_copy(Arena *a, const void *bytes, size_t n); /* NULL for none */
#define arena_new_of(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))
/* An array of -1, or of the largest number: of NO_INDEX, NO_VALUE, NO_OP, .. */
#define arena_none(a, T, n) ((T *)arena_ones((a), sizeof(T) * (size_t)(n)))
void *arena_ones(Arena *a, size_t bytes);

/* strings.c: moves behind `text` if it stands at *at. */
bool text_take(const char **at, const char *text);
/* Is the word one of a list, which bars separate? One that ends with `*` stands for all that begin
 * so. */
bool word_listed(const char *list, const char *word);
/* Moves behind the small letters and _ at *at, as many as there are, and returns them. */
typedef struct TextName {
    char at[32];
} TextName;
TextName text_take_name(const char **at);
/* strings.c: text in an arena. */
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *format, va_list args);

/* util.c: growing array in an arena: VEC(int) v = {0}; vec_push(arena, &v, 3); v.at[0]; v.n */
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint32_t n, capacity;                                                                      \
    }
void *vec_grow(Arena *a, void *at, uint32_t n, uint32_t *capacity, size_t element);
#define vec_push(a, v, x)                                                                          \
    do {                                                                                           \
        if ((v)->n == (v)->capacity)                                                               \
            (v)->at = vec_grow((a), (v)->at, (v)->n, &(v)->capacity, sizeof *(v)->at);             \
        (v)->at[(v)->n++] = (x);                                                                   \
    } while (0)

/* The elements move to an array of their own in the arena, so that changing them changes no copy of
 * v. */
#define vec_copy(a, v)                                                                             \
    ((v)->at = arena_copy((a), (v)->at, (v)->n * sizeof *(v)->at), (v)->capacity = (v)->n)

/* strings.c: growing text buffer (malloc'ed; buf_free, or buf_take to keep the text). */
typedef struct Buf {
    char *at;
    size_t n, capacity;
} Buf;
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_write(Buf *b, const void *bytes, size_t n);
/* Makes room for n more bytes and the NUL that buf_take puts after them. */
void buf_reserve(Buf *b, size_t n);
char *buf_take(Buf *b);           /* NUL-terminated, caller frees; b is empty again */
char *buf_text(Arena *a, Buf *b); /* the text in the arena, "" if there is none; b is freed */
void buf_free(Buf *b);
/* strings.c: the factor of a number's suffix: k, K, M, G, T are powers of 1000, Ki, Mi, Gi of 1024,
 * "" is 1; a B for bytes may follow. n: characters. 0: not a suffix. */
uint64_t suffix_factor(const char *suffix, size_t n);
/* Shortest decimal text that strtod reads back to exactly x ("0.1", "1e-05", "inf", "nan"). */
const char *double_text(double x, char out[40]);

/* strings.c: the code point at text (n > 0 bytes) and its length in bytes; for a byte that belongs
 * to no well-formed UTF-8 the answer is U+FFFD and length 1. */
#define UTF8_BAD 0xfffdu
uint32_t utf8_next(const char *text, size_t n, size_t *length);
/* Glob over dot-separated paths: '*' matches any run of characters, dots included. Returns
 * whether text matches; captures (may be NULL) receives the text that each '*' matched. */
bool glob_match(const char *pattern, const char *text, Arena *a, const char **captures, int max);
/* The candidate nearest to word (edit distance at most max(1, length / 3)), or NULL. Small and
 * capital letters are the same; what differs in every letter is not near. */
const char *nearest_name(const char *word, const char *const *candidates, size_t n);
/* "did you mean `NAME`?" for the nearest candidate, else `otherwise`. */
const char *nearest_help(Arena *a, const char *word, const char *const *candidates, size_t n,
                         const char *otherwise);
/* A path or glob near to this one that matches one of the paths, or NULL. In a glob each part
 * between dots that is part of no path becomes the nearest one that is. */
const char *nearest_path(Arena *a, const char *glob, const char *const *paths, size_t n);
/* util.c: hashing and files. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed); /* XXH3, 64 bit */
struct iovec;
/* hash_bytes with seed 0 of the first n bytes that the parts have together. */
uint64_t hash_parts(const struct iovec *part, size_t n);
/* Whole file into malloc'ed memory, followed by a NUL; NULL and errno on failure. */
char *read_file(const char *path, size_t *size);
/* Writes path atomically: temporary file next to it, fsync, rename. 0, or -1 with errno. */
int write_file_atomic(const char *path, const void *bytes, size_t n);

/* One more word of a hash, for tables in memory: it is not proof against a chosen input. */
static inline uint64_t hash_word(uint64_t h, uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 29;
}

/* strings.c: prints "error: " and the text in one write, and returns the code. */
int say_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* util.c: the two kinds of failure that have no place in a model file. User mistakes that do have
 * one go through diag.h. */
_Noreturn void fail_environment(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints what fail_environment is told; NULL: as "error: ", the text and a newline. */
extern void (*environment_failure)(const char *text);
_Noreturn void bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(c)                                                                                   \
    do {                                                                                           \
        if (!(c)) bug_at(__FILE__, __LINE__, "check failed: %s", #c);                              \
    } while (0)

#endif
