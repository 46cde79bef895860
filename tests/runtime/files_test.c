/* Data and weights files: reading returns what was written, and invalid files are rejected with the
 * place of the error. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "data.h"
#include "metrics.h"
#include "scratch.h"
#include "test.h"

static char error[ERROR_BYTES];

static const char *in_folder(const char *name) {
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

static const char *write_bytes(const char *name, const void *bytes, size_t n) {
    const char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    return path;
}

/* A plan with one source and fields inputs, targets of length 3, local batch 2. */
typedef struct TokenPlan {
    Plan plan;
    PlanSettings settings;
    PlanSource source;
    PlanField field[2];
    char strings[600];
} TokenPlan;

static TokenPlan *token_plan(int kind, const char *path) {
    TokenPlan *t = calloc(1, sizeof *t);
    memcpy(t->strings, "\0train\0inputs\0targets", 21);
    snprintf(t->strings + 24, 500, "%s", path);
    t->settings = (PlanSettings){.length = 3};
    t->source = (PlanSource){.name = 1, .kind = (uint32_t)kind, .path = 24, .to = 1};
    Type type = {.dtype = DT_I32, .rank = 2, .dim = {2, 3}};
    t->field[0] = (PlanField){.name = 7, .type = type};
    t->field[1] = (PlanField){.name = 14, .type = type, .staging = 64};
    t->plan = (Plan){.strings = t->strings,
                     .n_strings = sizeof t->strings,
                     .settings = &t->settings,
                     .sources = &t->source,
                     .n_sources = 1,
                     .fields = t->field,
                     .n_fields = 2};
    return t;
}

static const char *token_file(const char *name, int version, int count, const uint16_t *tokens,
                              int n) {
    unsigned char bytes[2048] = {0};
    int32_t head[3] = {20240520, version, count};
    memcpy(bytes, head, sizeof head);
    for (int i = 0; i < n; i++) {
        if (version == 2)
            memcpy(bytes + 1024 + 4 * i, (uint32_t[]){tokens[i]}, 4);
        else
            memcpy(bytes + 1024 + 2 * i, &tokens[i], 2);
    }
    return write_bytes(name, bytes, 1024 + (size_t)n * (version == 2 ? 4 : 2));
}

TEST(samples_never_cross_files) {
    uint16_t a[8] = {0, 1, 2, 3, 4, 5, 6, 7}, b[5] = {100, 101, 102, 103, 104};
    token_file("t_0.bin", 1, 0, a, 0); /* has none */
    token_file("t_1.bin", 1, 8, a, 8);
    token_file("t_2.bin", 2, 5, b, 5);
    TokenPlan *t = token_plan(SOURCE_TOKENS, in_folder("t_*.bin"));
    Dataset *d;
    assert_int_equal(dataset_open(&t->plan, "train", NULL, 0, &d, error), 0);
    assert_int_equal(d->samples, 3); /* (8 - 1) / 3 and (5 - 1) / 3 */
    static const int first[3] = {0, 3, 100};
    for (int k = 0; k < 3; k++) {
        uint8_t slot[128];
        assert_int_equal(dataset_read(d, &(SampleAt){.k = k}, 1, 1, slot, error), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(((int32_t *)(slot + 12))[i], first[k] + i);
            assert_int_equal(((int32_t *)(slot + 64 + 12))[i], first[k] + i + 1);
        }
    }
    dataset_close(d);
    free(t);
}

TEST(bad_token_files_are_refused) {
    uint16_t a[8] = {0};
    static const struct {
        int version, count, n, code;
    } bad[] = {{1, 9, 8, EXIT_CORRUPT}, {3, 8, 8, EXIT_CORRUPT}, {1, 3, 3, EXIT_CORRUPT}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        TokenPlan *t = token_plan(SOURCE_TOKENS,
                                  token_file("bad.bin", bad[i].version, bad[i].count, a, bad[i].n));
        Dataset *d;
        assert_int_equal(dataset_open(&t->plan, "train", NULL, 0, &d, error), bad[i].code);
        if (bad[i].count != bad[i].n)
            assert_non_null(
                strstr(error, "the header says 9 tokens of 2 bytes, but 16 bytes follow"));
        free(t);
    }
    TokenPlan *t = token_plan(SOURCE_TOKENS, in_folder("none*.bin"));
    Dataset *d;
    assert_int_equal(dataset_open(&t->plan, "train", NULL, 0, &d, error), EXIT_ENVIRONMENT);
    free(t);
}

TEST(a_bad_id_names_its_byte) {
    uint16_t a[8] = {0, 1, 2, 3, 4, 65535, 6, 7};
    TokenPlan *t = token_plan(SOURCE_TOKENS, token_file("id.bin", 1, 8, a, 8));
    Dataset *d;
    assert_int_equal(dataset_open(&t->plan, "train", NULL, 0, &d, error), 0);
    d->range[0].below = 257;
    uint8_t slot[128];
    assert_int_equal(dataset_read(d, &(SampleAt){.k = 0}, 1, 0, slot, error), 0);
    assert_int_equal(dataset_read(d, &(SampleAt){.k = 1}, 1, 0, slot, error), EXIT_CORRUPT);
    assert_non_null(strstr(error, "id.bin: byte 1034: 65535"));
    dataset_close(d);
    free(t);
}

TEST(text_can_be_shared_out) {
    TokenPlan *t = token_plan(SOURCE_TEXT, write_bytes("text", "abcdefghijklmnopqrst", 20));
    t->source.from = 0.5;
    Dataset *d;
    assert_int_equal(dataset_open(&t->plan, "train", NULL, 0, &d, error), 0);
    assert_int_equal(d->samples, 3);
    uint8_t slot[128];
    assert_int_equal(dataset_read(d, &(SampleAt){.k = 2}, 1, 0, slot, error), 0);
    assert_int_equal(((int32_t *)slot)[0], 'q');
    assert_int_equal(((int32_t *)(slot + 64))[2], 't');
    dataset_close(d);
    static const double nothing[][2] = {{0.5, 0.5}, {1, 1}},
                        wrong[][2] = {{0.6, 0.5}, {-0.1, 1}, {0, 1.1}};
    for (int i = 0; i < 5; i++) {
        t->source.from = i < 2 ? nothing[i][0] : wrong[i - 2][0];
        t->source.to = i < 2 ? nothing[i][1] : wrong[i - 2][1];
        assert_int_equal(dataset_open(&t->plan, "train", NULL, 0, &d, error), EXIT_CORRUPT);
        assert_non_null(strstr(error, i < 2 ? "no sample" : "must satisfy 0 <= from"));
    }
    free(t);
}

static const char *npy(const char *name, const char *dictionary, const void *data, size_t n) {
    uint8_t bytes[4096] = "\x93NUMPY\x01";
    size_t length = strlen(dictionary);
    bytes[8] = (uint8_t)length;
    memcpy(bytes + 10, dictionary, length);
    memcpy(bytes + 10 + length, data, n);
    return write_bytes(name, bytes, 10 + length + n);
}

TEST(npy_headers_are_read_whole) {
    NpyHeader h;
    size_t size;
    float x[6] = {0};
    const char *path =
        npy("a.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", x, sizeof x);
    char *bytes = read_file(path, &size);
    assert_int_equal(npy_read_header(path, (uint8_t *)bytes, size, &h, error), 0);
    assert_true(h.type == FT_F32 && h.rank == 2 && h.dim[0] == 2 && h.dim[1] == 3);
    for (size_t n = 0; n < size; n++) /* every truncation is refused */
        assert_int_equal(npy_read_header(path, (uint8_t *)bytes, n, &h, error), EXIT_CORRUPT);
    free(bytes);
    static const char *const bad[] = {
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2), }",
        "{'descr': '<f4', 'fortran_order': False, }",
        "{'descr'"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        bytes = read_file(npy("b.npy", bad[i], x, sizeof x), &size);
        assert_int_equal(npy_read_header("b.npy", (uint8_t *)bytes, size, &h, error), EXIT_CORRUPT);
        free(bytes);
    }
}

/* Of a disk's room each of two outputs takes a part. */
TEST(outputs_have_room_together) {
    Target t = {.path = "out"};
    struct statvfs disk;
    snprintf(t.folder, sizeof t.folder, "%s", scratch);
    assert_int_equal(statvfs(scratch, &disk), 0);
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    assert_int_equal(target_room(&t, 1, 1, 0, error), 0);
    assert_int_equal(target_room(&t, room / 4, 1, room / 4, error), 0);
    assert_int_equal(target_room(&t, room / 5 * 3, 1, room / 5 * 3, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, " with --dump-grads, and "));
    assert_int_equal(target_room(&t, room * 2, 1, 0, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, " bytes, and "));
}

TEST(names_of_one_file_are_the_same) {
    Target a, b;
    char there[600];
    const char *file = write_bytes("there", "x", 1);
    snprintf(there, sizeof there, "%s/./there", scratch);
    assert_true(!target_find(&a, file, error) && !target_find(&b, there, error));
    assert_true(target_same(&a, &b));
    assert_false(target_find(&b, in_folder("new"), error));
    assert_false(target_same(&a, &b) || target_same(&b, &a));
    snprintf(there, sizeof there, "%s/./new", scratch);
    assert_false(target_find(&a, there, error));
    assert_true(target_same(&a, &b));
    assert_false(target_find(&a, in_folder("news"), error));
    assert_false(target_same(&a, &b));
    assert_false(target_find(&a, "new", error)); /* in another folder */
    assert_false(target_same(&a, &b));
}

TEST(impossible_names_are_refused) {
    const char *const names[] = {"\xff", "__metadata__"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        TensorPlan plan = {.name = names[i], .type = FT_F32, .rank = 1, .dim = {2}};
        TensorWriter w;
        const char *path = in_folder("impossible.safetensors");
        SaveForm form = {.path = path, .config = ""};
        assert_int_equal(writer_open(&w, &form, &plan, 1, error), EXIT_CORRUPT);
        assert_non_null(strstr(error, "can be called"));
        writer_abandon(&w);
        assert_int_equal(access(path, F_OK), -1);
    }
}

TEST(tensors_come_back_as_written) {
    TensorPlan plan[2] = {{.name = "odd \"name\"", .type = FT_F32, .rank = 2, .dim = {2, 3}},
                          {.name = "b", .type = FT_BF16, .rank = 1, .dim = {5}}};
    TensorWriter w;
    const char *path = in_folder("w.safetensors");
    SaveForm form = {.path = path, .config = ""};
    assert_int_equal(writer_open(&w, &form, plan, 2, error), 0);
    float a[6] = {1, 2, 3, 4, 5, 6.5f}, b[5] = {1, 1.0f + 0x1p-8f, 3, -4, 0}, back[6];
    void *at;
    assert_int_equal(writer_map(&w, 0, &at, error), 0);
    memcpy(at, a, sizeof a);
    writer_unmap(&w);
    assert_int_equal(writer_map(&w, 1, &at, error), 0);
    store_floats(at, DT_BF16, b, 5);
    assert_int_equal(access(path, F_OK), -1); /* not there before it is whole */
    assert_int_equal(writer_commit(&w, error), 0);
    TensorFile f;
    assert_int_equal(tensors_open(&f, path, error), 0);
    assert_int_equal(f.n, 2);
    assert_string_equal(f.tensor[0].name, "odd \"name\"");
    load_floats(f.tensor[0].data, f.tensor[0].type, 6, back);
    assert_memory_equal(back, a, sizeof a);
    load_floats(f.tensor[1].data, f.tensor[1].type, 5, back);
    b[1] = 1; /* halfway between two bf16 numbers: the even one */
    assert_memory_equal(back, b, sizeof b);
    tensors_close(&f);
}

TEST(a_part_that_was_replaced_gets_no_name) {
    TensorPlan plan = {.name = "a", .type = FT_F32, .rank = 1, .dim = {2}};
    TensorWriter w;
    const char *path = in_folder("replaced.safetensors"), *other = in_folder("other");
    SaveForm form = {.path = path, .config = ""};
    assert_int_equal(writer_open(&w, &form, &plan, 1, error), 0);
    char *part = strdup(w.file->path);
    assert_int_equal(close(open(other, O_WRONLY | O_CREAT, 0666)), 0);
    assert_int_equal(rename(other, part), 0);
    assert_int_equal(writer_commit(&w, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, "removed or replaced"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(unlink(part), 0); /* it was left alone */
    free(part);
}

static float f16_value(unsigned h) {
    unsigned exponent = h >> 10 & 31, fraction = h & 1023;
    float size = exponent ? ldexpf((float)(1024 + fraction), (int)exponent - 25)
                          : ldexpf((float)fraction, -24);
    if (exponent == 31) size = INFINITY;
    return h >> 15 ? -size : size;
}

TEST(every_f16_number_comes_back) {
    enum { ALL = 1 << 16 };
    static uint16_t half[ALL], back[ALL];
    static float wide[ALL];
    for (unsigned h = 0; h < ALL; h++) half[h] = (uint16_t)h;
    load_floats(half, FT_F16, ALL, wide);
    store_elements(back, FT_F16, wide, ALL);
    for (unsigned h = 0; h < ALL; h++) {
        float value = f16_value(h);
        bool nan = (h & 0x7fff) > 0x7c00;
        float one; /* by itself, not among eight */
        uint16_t again;
        load_floats(&half[h], FT_F16, 1, &one);
        store_elements(&again, FT_F16, &one, 1);
        assert_memory_equal(&wide[h], &one, sizeof one);
        assert_int_equal(back[h], again);
        if (nan)
            assert_true(isnan(wide[h]));
        else
            assert_memory_equal(&wide[h], &value, sizeof value);
        assert_int_equal(back[h], nan ? h | 0x200 : h); /* a nan is quiet and keeps its bits */
    }
}

TEST(every_truncation_is_refused) {
    size_t size;
    char *bytes = read_file(in_folder("w.safetensors"), &size);
    assert_non_null(bytes);
    for (size_t n = 0; n < size; n++) {
        TensorFile f;
        const char *path = write_bytes("cut.safetensors", bytes, n);
        assert_int_equal(tensors_open(&f, path, error), EXIT_CORRUPT);
    }
    for (size_t i = 8; i < 200; i++) { /* flipped header bytes: refused, or still a header */
        bytes[i] ^= 0x11;
        TensorFile f;
        int code = tensors_open(&f, write_bytes("flip.safetensors", bytes, size), error);
        assert_true(code == 0 || code == EXIT_CORRUPT);
        tensors_close(&f);
        bytes[i] ^= 0x11;
    }
    free(bytes);
}

static uint16_t to_half(double x) {
    uint16_t half;
    store_elements(&half, FT_F16, (float[]){(float)x}, 1);
    return half;
}

/* Every half comes back; between two neighbours the nearer counts, halfway the even one. */
TEST(halves_are_rounded) {
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t half = (uint16_t)h, next = (uint16_t)(h + 1);
        double x = load_real(&half, FT_F16), y = load_real(&next, FT_F16);
        if ((h & 0x7fff) > 0x7c00) { /* not a number: stays one */
            assert_true((to_half(x) & 0x7fff) > 0x7c00);
            continue;
        }
        assert_int_equal(to_half(x), h);
        if ((h & 0x7fff) >= 0x7bff) continue;
        assert_int_equal(to_half((x + y) / 2), h & 1 ? next : half);
        assert_int_equal(to_half(x + (y - x) * 0.49), half);
        assert_int_equal(to_half(x + (y - x) * 0.51), next);
    }
    assert_int_equal(to_half(65519.996), 0x7bff);
    assert_int_equal(to_half(65520), 0x7c00);
    assert_int_equal(to_half(-1e30), 0xfc00);
}

/* Two tensors of two floats each whose ranges do not share out the 16 bytes of data. */
TEST(ranges_share_out_the_data) {
    static const struct {
        int from, to, from2, to2, data;
        const char *what;
    } lie[] = {
        {0, 8, 8, 16, 16, NULL},
        {0, 8, 4, 12, 12, "tensor b: its data overlap"},
        {0, 8, 0, 8, 8, "tensor b: its data overlap"},
        {0, 8, 12, 20, 20, "tensor b: bytes before its data"},
        {4, 12, 12, 20, 20, "tensor a: bytes before its data"},
        {0, 8, 8, 16, 17, "bytes at its end"},
        {0, 8, 8, 16, 15, "tensor b: its data lie outside"},
        {0, 8, 8, 12, 12, "tensor b: the length of its data"},
        {0, 8, 16, 8, 16, "tensor b: its data lie outside"},
    };
    for (size_t i = 0; i < ARRAY_LEN(lie); i++) {
        char bytes[512] = {0};
        int n = snprintf(bytes + 8, 400,
                         "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%d,%d]},"
                         "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%d,%d]}}",
                         lie[i].from, lie[i].to, lie[i].from2, lie[i].to2);
        bytes[0] = (char)n;
        assert_true(n < 256);
        TensorFile f;
        int code = tensors_open(
            &f, write_bytes("lie.safetensors", bytes, (size_t)(8 + n + lie[i].data)), error);
        assert_int_equal(code, lie[i].what ? EXIT_CORRUPT : 0);
        if (lie[i].what) assert_non_null(strstr(error, lie[i].what));
        tensors_close(&f);
    }
}

/* Parameter [3, 2], tied, stored transposed as [2, 3]. */
TEST(weights_are_found_by_name) {
    static const char strings[] = "\0w\0hf.w\0hf.v";
    PlanParam q = {.name = 1,
                   .key = 1,
                   .checkpoint = 3,
                   .flags = PARAM_TRANSPOSED,
                   .n_alias = 1,
                   .type = {.dtype = DT_F32, .rank = 2, .dim = {3, 2}}};
    PlanAlias alias = {1, 8};
    Plan p = {.strings = strings,
              .n_strings = sizeof strings,
              .params = &q,
              .n_params = 1,
              .aliases = &alias,
              .n_aliases = 1};
    static const float data[13] = {0, 1, 2, 10, 11, 12, 0, 1, 2, 10, 11, 13, 14};
#define ENTRY(name, type, shape, from, to)                                                         \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" #from "," #to  \
    "]}"
    static const struct {
        const char *header;
        int bytes;
        const char *report; /* NULL: loads */
    } file[] = {
        {ENTRY("hf.w", "F32", "2,3", 0, 24) "," ENTRY("x", "F32", "1", 24, 28), 28,
         "not in the model: x\n"},
        {ENTRY("hf.v", "F32", "2,3", 0, 24), 24, NULL},
        {ENTRY("hf.w", "F32", "2,3", 0, 24) "," ENTRY("hf.v", "F32", "2,3", 24, 48), 48, NULL},
        {ENTRY("hf.w", "F32", "3,2", 0, 24), 24,
         "wrong shape: hf.w is [3, 2], the model needs [2, 3] (stored transposed)\n"},
        {ENTRY("hf.ww", "F32", "2,3", 0, 24), 24, "missing: hf.w (parameter w); is it hf.ww?\n"},
        {ENTRY("hf.w", "I32", "2,3", 0, 24), 24, "wrong type: hf.w ("},
    };
    for (size_t i = 0; i < ARRAY_LEN(file); i++) {
        char bytes[1024];
        uint64_t n = (uint64_t)snprintf(bytes + 8, 900, "{%s}", file[i].header);
        memcpy(bytes, &n, 8);
        memcpy(bytes + 8 + n, data, sizeof data);
        TensorSet s;
        const char *path = write_bytes("m.safetensors", bytes, 8 + n + (size_t)file[i].bytes);
        assert_int_equal(tensor_set_open(&s, path, error), 0);
        TensorMatch m;
        Buf report = {0};
        assert_int_equal(tensors_match(&p, &s, &m, &report), file[i].report ? EXIT_CORRUPT : 0);
        if (file[i].report) {
            buf_write(&report, "", 1);
            assert_non_null(strstr(report.at, file[i].report));
        } else {
            float w[6], want[6] = {0, 10, 1, 11, 2, 12};
            tensor_elements(&m, 0, 1, DT_F32, w);
            tensor_elements(&m, 1, 5, DT_F32, w + 1);
            assert_memory_equal(w, want, sizeof want);
            assert_int_equal(m.n_same, i - 1);
            assert_null(tensor_unlike(&m, 0, 5));
            assert_ptr_equal(tensor_unlike(&m, 5, 1), m.n_same ? m.same[0] : NULL);
        }
        buf_free(&report);
        tensor_set_close(&s);
    }
}

/* Two names of one weight may have it in different types: values are compared. */
TEST(tied_weights_may_have_different_types) {
    static const char strings[] = "\0w\0hf.w\0hf.v";
    PlanParam q = {.name = 1,
                   .key = 1,
                   .checkpoint = 3,
                   .n_alias = 1,
                   .type = {.dtype = DT_F32, .rank = 2, .dim = {3, 2}}};
    PlanAlias alias = {1, 8};
    Plan p = {.strings = strings,
              .n_strings = sizeof strings,
              .params = &q,
              .n_params = 1,
              .aliases = &alias,
              .n_aliases = 1};
    static const char header[] =
        "{" ENTRY("hf.w", "F32", "3,2", 0, 24) "," ENTRY("hf.v", "F64", "3,2", 24, 72) "}";
    for (int wrong = 0; wrong < 2; wrong++) {
        char bytes[512];
        uint64_t n = sizeof header - 1;
        memcpy(bytes, &n, 8);
        memcpy(bytes + 8, header, n);
        for (int i = 0; i < 6; i++) {
            float x = (float)(3 * i + 1);
            double y = x + (wrong && i == 5);
            memcpy(bytes + 8 + n + 4 * i, &x, 4);
            memcpy(bytes + 8 + n + 24 + 8 * i, &y, 8);
        }
        TensorSet s;
        TensorMatch m;
        Buf report = {0};
        assert_int_equal(
            tensor_set_open(&s, write_bytes("m.safetensors", bytes, 8 + n + 72), error), 0);
        assert_int_equal(tensors_match(&p, &s, &m, &report), 0);
        assert_int_equal(m.n_same, 1);
        assert_null(tensor_unlike(&m, 0, 5));
        assert_ptr_equal(tensor_unlike(&m, 3, 3), wrong ? m.same[0] : NULL);
        buf_free(&report);
        tensor_set_close(&s);
    }
}

/* Names of metrics come from the plan: one that no line holds is said, and nothing of it written;
 * the lines after it are whole. */
TEST(a_metric_with_a_long_name_is_refused) {
    enum { LONG = 20000 };
    static char name[LONG + 1];
    memset(name, 'm', LONG);
    const char *const names[] = {name, "loss"};
    PlanSettings settings = {.batch = 2, .length = 3};
    Plan plan = {.settings = &settings};
    RunOptions options = {.log = in_folder("log"), .quiet = true};
    LaunchContext launch = {.rank = 0};
    RunSteps steps = {.end = 1};
    RunFacts run = {.plan = &plan, .options = &options, .launch = &launch, .steps = &steps};
    Metrics *metrics;
    double value = 0.5;
    char line[256] = "";
    assert_int_equal(metrics_open(&run, &metrics, error), 0);
    assert_int_equal(metrics_eval(metrics, 1, 1, &names[0], &value, error), EXIT_CORRUPT);
    assert_non_null(strstr(error, "the metrics' names are too long"));
    assert_int_equal(metrics_eval(metrics, 1, 1, &names[1], &value, error), 0);
    metrics_close(metrics);
    FILE *f = fopen(options.log, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    static const char whole[] = "{\"event\":\"eval\",\"step\":1,\"loss\":0.5,\"time\":";
    assert_memory_equal(line, whole, sizeof whole - 1);
    assert_string_equal(line + strlen(line) - 2, "}\n");
    assert_null(fgets(line, sizeof line, f));
    fclose(f);
}

/* ---- parts of tensors */

/* A part of 40 x 6 elements of two bytes, as rows with a gap, turned, with a step, and as a row. */
static const StoredPart stored_parts[] = {
    {.rank = 2, .n = 240, .offset = 3, .dim = {40, 6}, .stride = {10, 1}},
    {.rank = 2, .n = 240, .offset = 3, .dim = {40, 6}, .stride = {1, 40}},
    {.rank = 2, .n = 240, .offset = 3, .dim = {40, 6}, .stride = {12, 2}},
    {.rank = 2, .n = 240, .offset = 3, .dim = {240, 1}, .stride = {2, 1}},
    {.rank = 1, .n = 240, .offset = 3, .dim = {240}, .stride = {1}},
};

TEST(parts_are_stored_element_by_element) {
    enum { PART = 240, TENSOR = 512, FIRST_STEP = 7, LENGTH_STEP = 37 };
    uint16_t from[PART], memory[TENSOR], file[TENSOR], back[PART];
    for (int i = 0; i < PART; i++) from[i] = (uint16_t)(i + 1);
    for (size_t k = 0; k < ARRAY_LEN(stored_parts); k++)
        for (int64_t first = 0; first < PART; first += FIRST_STEP)
            for (int64_t n = 1; first + n <= PART; n += LENGTH_STEP) {
                const StoredPart *s = &stored_parts[k];
                uint16_t expected[TENSOR] = {0};
                for (int64_t i = first; i < first + n; i++) expected[stored_place(s, i)] = from[i];
                memset(memory, 0, sizeof memory);
                part_store(s, sizeof *from, first, n, (const char *)(from + first), (char *)memory);
                assert_memory_equal(memory, expected, sizeof expected);
                const char *path = write_bytes("part", file, 0);
                int fd = open(path, O_RDWR);
                assert_true(fd >= 0 && !ftruncate(fd, sizeof file));
                assert_int_equal(part_write(fd, 0, s, sizeof *from, first, n, from + first), 0);
                assert_int_equal(pread(fd, file, sizeof file, 0), sizeof file);
                assert_memory_equal(file, expected, sizeof expected);
                assert_int_equal(part_read(fd, 0, s, sizeof *from, first, n, back), 0);
                assert_memory_equal(back, from + first, (size_t)n * sizeof *from);
                close(fd);
            }
}

RUN_TESTS(scratch_make, scratch_remove)
