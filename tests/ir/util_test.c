/* Arena, vectors, buffers, text and files (util.c, strings.c). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "util.h"

TEST(arena_gives_aligned_zeroed_separate_memory) {
    Arena *a = arena_new();
    unsigned char *last = NULL;
    size_t last_bytes = 0;
    for (size_t i = 0; i < 3000; i++) {
        size_t bytes = i % 7 == 0 ? i * 61 : i % 50;
        unsigned char *p = arena_alloc(a, bytes);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t j = 0; j < bytes; j++) assert_int_equal(p[j], 0);
        memset(p, 0xff, bytes);
        assert_ptr_not_equal(p, last);
        for (size_t j = 0; j < last_bytes; j++) assert_int_equal(last[j], 0xff);
        last = p;
        last_bytes = bytes;
    }
    arena_free(a);
    arena_free(NULL);
}

TEST(vec_keeps_what_was_pushed) {
    Arena *a = arena_new();
    VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 10000; i++) vec_push(a, &v, i * i);
    assert_int_equal(v.n, 10000);
    for (uint64_t i = 0; i < 10000; i++) assert_int_equal(v.at[i], i * i);
    arena_free(a);
}

TEST(buffer_grows_and_is_taken) {
    Buf b = {0};
    for (int i = 0; i < 500; i++) {
        buf_printf(&b, "%d,", i);
        buf_write(&b, "\0x", 2);
    }
    assert_int_equal(b.n, 10 * 2 + 90 * 3 + 400 * 4 + 500 * 2);
    assert_memory_equal(b.at, "0,\0x1,\0x2,\0x", 12);
    char *text = buf_take(&b);
    assert_int_equal(b.n, 0);
    assert_null(b.at);
    assert_int_equal(text[10 * 2 + 90 * 3 + 400 * 4 + 500 * 2], 0);
    free(text);
    text = buf_take(&b);
    assert_string_equal(text, "");
    free(text);
    buf_printf(&b, "%s", "left");
    buf_free(&b);
    assert_int_equal(b.capacity, 0);
}

TEST(text_goes_into_the_arena) {
    Arena *a = arena_new();
    assert_string_equal(arena_strdup(a, "unit"), "unit");
    assert_string_equal(arena_strndup(a, "unshard", 2), "un");
    assert_string_equal(arena_strndup(a, "", 0), "");
    assert_string_equal(arena_printf(a, "%s.%d", "h", 3), "h.3");
    arena_free(a);
}

TEST(numbers_are_short_and_exact) {
    static const struct {
        double x;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {10, "10"},
        {-64, "-64"},
        {0.1, "0.1"},
        {6e-4, "0.0006"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {0.1f, "0.10000000149011612"},
        {1.0 / 3, "0.3333333333333333"},
        {123456.75, "123456.75"},
        {9007199254740993.0, "9007199254740992"},
        {9999999999999998.0, "9999999999999998"},
        {1e16, "1e+16"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {5e-324, "5e-324"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-NAN, "nan"},
    };
    char out[40];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(double_text(cases[i].x, out), cases[i].text);
    /* Bits from a fixed generator: every double reads back as itself. */
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double x, again;
        memcpy(&x, &bits, sizeof x);
        if (isnan(x)) continue;
        again = strtod(double_text(x, out), NULL);
        assert_memory_equal(&x, &again, sizeof x);
        assert_true(strlen(out) < 30);
    }
}

TEST(utf8_is_strict) {
    static const struct {
        const char *text;
        size_t n;
        uint32_t c;
        size_t length;
    } cases[] = {
        {"a", 1, 'a', 1},
        {"\0", 1, 0, 1},
        {"\xc3\xa9", 2, 0xe9, 2},
        {"\xe2\x82\xac", 3, 0x20ac, 3},
        {"\xf0\x9f\x98\x80", 4, 0x1f600, 4},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff, 4},
        {"\xc3\xa9", 1, UTF8_BAD, 1},             /* cut */
        {"\xc3(", 2, UTF8_BAD, 1},                /* no continuation */
        {"\x80", 1, UTF8_BAD, 1},                 /* continuation alone */
        {"\xc0\xaf", 2, UTF8_BAD, 1},             /* overlong */
        {"\xe0\x80\xaf", 3, UTF8_BAD, 1},         /* overlong */
        {"\xf0\x80\x80\xaf", 4, UTF8_BAD, 1},     /* overlong */
        {"\xed\xa0\x80", 3, UTF8_BAD, 1},         /* surrogate */
        {"\xf4\x90\x80\x80", 4, UTF8_BAD, 1},     /* above 10FFFF */
        {"\xf8\x88\x80\x80\x80", 5, UTF8_BAD, 1}, /* five bytes */
        {"\xff", 1, UTF8_BAD, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t length = 99;
        assert_int_equal(utf8_next(cases[i].text, cases[i].n, &length), cases[i].c);
        assert_int_equal(length, cases[i].length);
    }
}

TEST(hash_is_xxh3) {
    /* The published value for the empty input pins the algorithm, since plans store hashes. */
    assert_true(hash_bytes("", 0, 0) == 0x2d06800538d394c2u);
    assert_true(hash_bytes(NULL, 0, 0) == 0x2d06800538d394c2u);
    assert_true(hash_bytes("fsdp", 4, 0) != hash_bytes("fsdq", 4, 0));
    assert_true(hash_bytes("fsdp", 4, 0) != hash_bytes("fsdp", 4, 1));
}

TEST(globs_match_across_dots) {
    static const struct {
        const char *pattern, *text;
        bool matches;
        const char *captures[2];
    } cases[] = {
        {"", "", true, {0}},
        {"", "a", false, {0}},
        {"a", "", false, {0}},
        {"*", "", true, {""}},
        {"*", "h.0.attn", true, {"h.0.attn"}},
        {"h.*", "h.0.attn", true, {"0.attn"}},
        {"h.*.weight", "h.3.attn.weight", true, {"3.attn"}},
        {"h.*.weight", "h.3.attn.bias", false, {0}},
        {"h.*.*.weight", "h.3.attn.c.weight", true, {"3", "attn.c"}},
        {"*.bias", "bias", false, {0}},
        {"*bias", "bias", true, {""}},
        {"a*b*c", "aXbYbZc", true, {"X", "YbZ"}},
        {"a*b*c", "acb", false, {0}},
        {"**", "ab", true, {"", "ab"}},
        {"ab", "abc", false, {0}},
    };
    Arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *captures[2] = {0};
        assert_int_equal(glob_match(cases[i].pattern, cases[i].text, a, captures, 2),
                         cases[i].matches);
        assert_int_equal(glob_match(cases[i].pattern, cases[i].text, NULL, NULL, 0),
                         cases[i].matches);
        for (int k = 0; k < 2 && cases[i].matches; k++) {
            if (cases[i].captures[k])
                assert_string_equal(captures[k], cases[i].captures[k]);
            else
                assert_null(captures[k]);
        }
    }
    /* More stars than room: the rest is matched and not stored. */
    const char *one[1] = {0};
    assert_true(glob_match("*.*.*", "a.b.c", a, one, 1));
    assert_string_equal(one[0], "a");
    /* No exponential search. */
    char *text = arena_alloc(a, 5001);
    memset(text, 'a', 5000);
    assert_false(glob_match("a*a*a*a*a*a*a*a*a*a*b", text, a, NULL, 0));
    arena_free(a);
}

TEST(nearest_name_stays_near) {
    static const char *const names[] = {"weight", "bias", "optimizer", "T", "prefetch", "wieght2"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"weight", "weight"},
        {"wieght", "weight"}, /* a swap is one step */
        {"optimiser", "optimizer"},
        {"optimzer", "optimizer"},
        {"bais", "bias"},
        {"t", "T"}, /* capitals are no mistake */
        {"BIAS", "bias"},
        {"Biass", "bias"},
        {"x", NULL}, /* every letter differs */
        {"prefetching", "prefetch"},
        {"prefetchings", "prefetch"},
        {"prefetchingsx", NULL},
        {"xyz", NULL},
        {"bi", NULL},
        {"", "T"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *nearest = nearest_name(cases[i].word, names, ARRAY_LEN(names));
        if (cases[i].nearest) {
            assert_non_null(nearest);
            assert_string_equal(nearest, cases[i].nearest);
        } else {
            assert_null(nearest);
        }
    }
    char longest[4096];
    memset(longest, 'w', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_null(nearest_name(longest, names, ARRAY_LEN(names)));
    assert_null(nearest_name("weight", names, 0));
}

TEST(files_are_written_and_read_whole) {
    size_t n = 3000001, size = 0;
    unsigned char *bytes = malloc(n);
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(i * 7 + (i >> 8));
    assert_int_equal(write_file_atomic("whole.bin", bytes, n), 0);
    char *again = read_file("whole.bin", &size);
    assert_non_null(again);
    assert_int_equal(size, n);
    assert_memory_equal(again, bytes, n);
    assert_int_equal(again[n], 0);
    free(again);
    free(bytes);

    /* Replacing keeps the mode; a link stays a link. */
    assert_int_equal(chmod("whole.bin", 0640), 0);
    assert_int_equal(symlink("whole.bin", "link.bin"), 0);
    assert_int_equal(write_file_atomic("link.bin", "x", 1), 0);
    struct stat st;
    assert_int_equal(lstat("link.bin", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat("whole.bin", &st), 0);
    assert_int_equal(st.st_size, 1);
    assert_int_equal(st.st_mode & 0777, 0640);

    assert_int_equal(write_file_atomic("empty.bin", NULL, 0), 0);
    again = read_file("empty.bin", &size);
    assert_non_null(again);
    assert_int_equal(size, 0);
    assert_string_equal(again, "");
    free(again);
    assert_int_equal(write_file_atomic("/dev/null", "x", 1), 0);
    unlink("link.bin");
    unlink("whole.bin");
    unlink("empty.bin");
}

TEST(file_failures_have_an_errno) {
    size_t size;
    errno = 0;
    assert_null(read_file("no-such-file", &size));
    assert_int_equal(errno, ENOENT);
    assert_null(read_file(".", &size));
    assert_int_equal(errno, EISDIR);
    assert_int_equal(write_file_atomic("no-such-folder/x", "x", 1), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(write_file_atomic(".", "x", 1), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(write_file_atomic("/dev/full", "x", 1), -1);
    assert_int_equal(errno, ENOSPC);
}

/* What a child prints on stderr, and how it ends. */
static int in_child(void (*f)(void), char *text, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        f();
        _exit(77);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n + 1 < size && (got = read(ends[0], text + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void lack_a_file(void) { fail_environment("cannot open %s: %s", "x", "reasons"); }
static void have_a_bug(void) { bug_at("pass.c", 12, "unit %d has no root", 3); }
static void fail_a_check(void) { CHECK(1 + 1 == 3); }
static void ask_too_much(void) { arena_alloc(arena_new(), SIZE_MAX - 100); }

TEST(the_two_failures_end_differently) {
    char text[4096];
    int status = in_child(lack_a_file, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_ENVIRONMENT);
    assert_string_equal(text, "error: cannot open x: reasons\n");

    status = in_child(ask_too_much, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_ENVIRONMENT);
    assert_non_null(strstr(text, "out of memory"));

    status = in_child(have_a_bug, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), 6);
    assert_string_equal(text, "internal error: pass.c:12: unit 3 has no root\n");

    status = in_child(fail_a_check, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_non_null(strstr(text, "util_test.c:"));
    assert_non_null(strstr(text, "check failed: 1 + 1 == 3"));
}

RUN_TESTS(NULL, NULL)
