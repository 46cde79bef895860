/* Arrays as data: which are rejected, ids at the limit of what the model accepts, and files that
 * --data names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "ir.h"
#include "scratch.h"
#include "test.h"

static char error[ERROR_BYTES];

/* Whole numbers as little-endian elements of an array. Byte 96 is the first of them. */
static const char *write_array(const char *name, const char *type, const char *shape,
                               const int64_t *value, int64_t n) {
    static char path[4][160];
    static int turn;
    char head[97], *at = path[turn++ % 4];
    int used =
        snprintf(head + 10, 86, "{'descr':'%s','fortran_order':False,'shape':(%s)}", type, shape);
    assert_true(used < 86);
    memset(head + 10 + used, ' ', 86 - (size_t)used);
    memcpy(head, "\x93NUMPY\x01\0\x56\0", 10);
    snprintf(at, sizeof path[0], "%s/%s", scratch, name);
    FILE *f = fopen(at, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(head, 1, 96, f), 96);
    for (int64_t i = 0; i < n; i++) {
        double real = (double)value[i];
        float single = (float)real;
        const void *from = &value[i];
        if (!strcmp(type, "<f8")) from = &real;
        if (!strcmp(type, "<f4")) from = &single;
        fwrite(from, (size_t)(type[2] - '0'), 1, f);
    }
    fclose(f);
    return at;
}

/* A source of up to two arrays, x and y. */
typedef struct Source {
    char strings[512];
    PlanSource source;
    PlanSourceField from[2];
    PlanField field[2];
    PlanSettings settings;
    Plan plan;
    Dataset *d;
} Source;

static void source_of(Source *s, int n, Type x, const char *x_path, Type y, const char *y_path) {
    *s = (Source){.source = {.name = 1, .kind = SOURCE_NPY, .n_field = (uint32_t)n}};
    memcpy(s->strings, "\0train\0x\0y", 11);
    snprintf(s->strings + 16, 200, "%s", x_path);
    snprintf(s->strings + 256, 200, "%s", y_path);
    s->from[0] = (PlanSourceField){.name = 7, .path = 16};
    s->from[1] = (PlanSourceField){.name = 9, .path = 256};
    s->field[0] = (PlanField){.name = 7, .type = x};
    s->field[1] = (PlanField){.name = 9, .type = y, .staging = 2048};
    s->plan = (Plan){.strings = s->strings,
                     .n_strings = sizeof s->strings,
                     .settings = &s->settings,
                     .sources = &s->source,
                     .n_sources = 1,
                     .source_fields = s->from,
                     .n_source_fields = (uint64_t)n,
                     .fields = s->field,
                     .n_fields = (uint64_t)n};
}

static int open_one(Source *s, Type x, const char *path) {
    source_of(s, 1, x, path, x, "");
    return dataset_open(&s->plan, "train", NULL, 0, &s->d, error);
}

TEST(every_axis_of_an_array_is_the_plans) {
    static const int64_t zeros[120];
    static const struct {
        const char *type, *shape;
        int64_t n;
        int dtype;
        const char *says; /* NULL: it fits */
    } file[] = {
        {"<i4", "5,3,4", 60, DT_I32, NULL},
        {"<i4", "5,4,4", 80, DT_I32, "x.npy: its samples are i4[4, 4], but"},
        {"<i4", "5,2,4", 40, DT_I32, "x.npy: its samples are i4["},
        {"<i4", "5,3,5", 75, DT_I32, "x.npy: its samples are i4["},
        {"<i4", "5,12", 60, DT_I32, "x.npy: its samples are i4[12], but"},
        {"<i4", "5,3,4,1", 60, DT_I32, "x.npy: its samples are i4["},
        {"<i4", "0,3,4", 0, DT_I32, "x.npy: the array has no samples"},
        {"<i4", "1,3,4", 12, DT_I32, NULL},
        {"<f4", "5,3,4", 60, DT_I32,
         "its samples are f4[3, 4], but the plan was compiled for samples of i32[3, 4] (field x)"},
        {"<f8", "5,3,4", 60, DT_I64, "samples of i64[3, 4] (field x)"},
        {"<f4", "5,3,4", 60, DT_U8, "samples of u8[3, 4] (field x)"},
        {"<f8", "5,3,4", 60, DT_F32, NULL},
        {"<f4", "5,3,4", 60, DT_BF16, NULL},
        {"<f4", "5,3,4", 60, DT_F64, NULL},
        {"<i8", "5,3,4", 60, DT_F32, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(file); i++) {
        Source s;
        Type x = type_of(file[i].dtype, 3, (int64_t[]){2, 3, 4});
        int code =
            open_one(&s, x, write_array("x.npy", file[i].type, file[i].shape, zeros, file[i].n));
        assert_int_equal(code, file[i].says ? EXIT_CORRUPT : 0);
        if (code)
            assert_non_null(strstr(error, file[i].says));
        else
            assert_int_equal(s.d->samples, file[i].n / 12);
        dataset_close(s.d);
    }
}

/* A sample of n ids that are all 1, except the one at `at`: is it refused, with its byte? */
static void check_id(const char *type, int dtype, FieldRange range, int64_t n, int64_t at,
                     int64_t id, bool good) {
    Source s;
    char shape[24], where[80];
    uint8_t slot[8 * 2048];
    int64_t *ids = calloc((size_t)(2 * n), sizeof *ids);
    assert_non_null(ids);
    for (int64_t i = 0; i < 2 * n; i++) ids[i] = 1;
    ids[n + at] = id;
    snprintf(shape, sizeof shape, "2,%d", (int)n);
    assert_int_equal(open_one(&s, type_of(dtype, 2, (int64_t[]){1, n}),
                              write_array("id.npy", type, shape, ids, 2 * n)),
                     0);
    s.d->range[0] = range;
    assert_int_equal(dataset_read(s.d, &(SampleAt){0}, 1, 0, slot, error), 0);
    int code = dataset_read(s.d, &(SampleAt){.k = 1}, 1, 0, slot, error);
    if (code != (good ? 0 : EXIT_CORRUPT))
        fail_msg("%s as %s: %lld at %lld of %lld", type, dtype_name(dtype), (long long)id,
                 (long long)at, (long long)n);
    snprintf(where, sizeof where, "id.npy: byte %lld: %lld in field x is outside",
             (long long)(96 + (n + at) * (type[2] - '0')), (long long)id);
    if (!good && !strstr(error, where)) fail_msg("%s, not %s", error, where);
    for (int64_t i = 0; i < n && good; i++) {
        int64_t got = dtype == DT_I64   ? ((int64_t *)(void *)slot)[i]
                      : dtype == DT_I32 ? ((int32_t *)(void *)slot)[i]
                                        : slot[i];
        assert_int_equal(got, ids[n + i]);
    }
    dataset_close(s.d);
    free(ids);
}

/* At every place that the loaders treat in another way: blocks of 64, pieces of 1024. */
TEST(ids_at_the_edge_are_refused_by_every_loader) {
    static const int64_t n[] = {1, 63, 64, 65, 129, 1025}, id[] = {0, 99, 100, 101, 127, -1, -7};
    static const int dtype[] = {DT_I32, DT_I64, DT_U8};
    static const FieldRange range = {.below = 100}, other = {.below = 100, true, -7},
                            beside = {.below = 100, true, 127};
    static const char *const types[] = {"<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1"};
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        const char *type = types[t];
        for (size_t k = 0; k < ARRAY_LEN(dtype) * ARRAY_LEN(n) * ARRAY_LEN(id); k++) {
            int d = dtype[k % 3];
            int64_t length = n[k / 3 % ARRAY_LEN(n)], x = id[k / 3 / ARRAY_LEN(n)];
            if (x < 0 && strchr(type, 'u')) continue;
            check_id(type, d, range, length, length - 1, x, x >= 0 && x < 100);
            if (length == 65 || length == 1025)
                check_id(type, d, range, length, 0, x, x >= 0 && x < 100);
            if (length != 65) continue;
            check_id(type, d, other, length, 64, x, (x >= 0 && x < 100) || (x == -7 && d != DT_U8));
            check_id(type, d, beside, length, 64, x, x >= 0 && (x < 100 || x == 127));
        }
    }
}

/* Where the model takes any id, those that the field's dtype holds. */
TEST(ids_without_a_limit_fit_their_dtype) {
    static const FieldRange any = {0};
    static const struct {
        const char *type;
        int dtype;
        int64_t id;
        bool good;
    } row[] = {
        {"<i8", DT_I32, INT32_MAX, true}, {"<i8", DT_I32, (int64_t)INT32_MAX + 1, false},
        {"<i8", DT_I32, INT32_MIN, true}, {"<i8", DT_I32, (int64_t)INT32_MIN - 1, false},
        {"<u4", DT_I32, INT32_MAX, true}, {"<u4", DT_I32, (int64_t)INT32_MAX + 1, false},
        {"<i8", DT_I64, INT64_MAX, true}, {"<i8", DT_I64, INT64_MIN, true},
        {"<i2", DT_U8, 255, true},        {"<i2", DT_U8, 256, false},
        {"<i2", DT_U8, -1, false},        {"<i4", DT_I32, -5, true},
        {"|u1", DT_U8, 255, true},        {"|i1", DT_I64, -128, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++)
        check_id(row[i].type, row[i].dtype, any, 3, 1, row[i].id, row[i].good);
    static const FieldRange most = {.below = (int64_t)INT32_MAX + 1};
    check_id("<i8", DT_I32, most, 3, 1, INT32_MAX, true);
    check_id("<i8", DT_I32, most, 3, 1, (int64_t)INT32_MAX + 1, false);
}

/* Sample k of arrays x [5, 2] and y [5]: numbers that say where they come from. */
TEST(arrays_are_read_side_by_side) {
    static const int64_t x[] = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41}, y[] = {5, 6, 7, 8, 9};
    Source s;
    uint8_t slot[4096] = {0};
    Type tx = type_of(DT_F32, 2, (int64_t[]){3, 2}), ty = type_of(DT_I64, 1, (int64_t[]){3});
    source_of(&s, 2, tx, write_array("x.npy", "<f8", "5,2", x, 10), ty,
              write_array("y.npy", "<i2", "5,", y, 5));
    assert_int_equal(dataset_open(&s.plan, "train", NULL, 0, &s.d, error), 0);
    assert_int_equal(s.d->samples, 5);
    static const SampleAt at[] = {{4, 0}, {1, 0}};
    assert_int_equal(dataset_read(s.d, at, 2, 1, slot, error), 0);
    static const float want[] = {0, 0, 40, 41, 10, 11};
    assert_memory_equal(slot, want, sizeof want);
    static const int64_t wanted[] = {0, 9, 6};
    assert_memory_equal(slot + 2048, wanted, sizeof wanted);
    dataset_close(s.d);
    write_array("y.npy", "<i2", "4,", y, 4);
    assert_int_equal(dataset_open(&s.plan, "train", NULL, 0, &s.d, error), EXIT_CORRUPT);
    assert_non_null(strstr(error, "y.npy has 4 samples, "));
    assert_non_null(strstr(error, "x.npy has 5"));
}

/* NAME is a source of one file or a field of several; the last of several options counts. */
TEST(data_options_name_one_file) {
    static const int64_t a[] = {1, 2}, b[] = {3, 4}, c[] = {5, 6};
    Source s;
    Type t = type_of(DT_I64, 1, (int64_t[]){1});
    const char *pa = write_array("a.npy", "<i8", "2,", a, 2),
               *pb = write_array("b.npy", "<i8", "2,", b, 2),
               *pc = write_array("c.npy", "<i8", "2,", c, 2);
    static const struct {
        int fields;
        const char *name[2];
        int64_t x, y; /* 0: refused */
    } row[] = {
        {2, {"train", NULL}, 0, 0},      {2, {"train.x", NULL}, 5, 3},
        {2, {"train.y", NULL}, 1, 5},    {2, {"train.y", "train.x"}, 1, 5},
        {2, {"train.z", NULL}, 0, 0},    {2, {"val.x", NULL}, 0, 0},
        {1, {"train", NULL}, 5, 0},      {1, {"train.x", NULL}, 5, 0},
        {1, {"train", "train.x"}, 3, 0}, {1, {"trainx", NULL}, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        DataOption option[] = {{row[i].name[0], pc}, {row[i].name[1], pb}};
        uint32_t n = row[i].name[1] ? 2 : 1;
        uint8_t slot[4096] = {0};
        if (row[i].fields == 2 && n == 2) option[1].path = pa;
        source_of(&s, row[i].fields, t, pa, t, pb);
        int code = data_options_check(&s.plan, option, n, error);
        assert_int_equal(code, row[i].x ? 0 : EXIT_USER);
        if (code) {
            char says[80];
            snprintf(says, sizeof says, "--data %s=...: the plan's data files are: %s",
                     row[i].name[0], row[i].fields == 2 ? "train.x train.y" : "train train.x");
            assert_memory_equal(error, says, strlen(says));
            continue;
        }
        assert_int_equal(dataset_open(&s.plan, "train", option, n, &s.d, error), 0);
        assert_int_equal(dataset_read(s.d, &(SampleAt){0}, 1, 0, slot, error), 0);
        assert_int_equal(*(int64_t *)(void *)slot, row[i].x);
        assert_int_equal(*(int64_t *)(void *)(slot + 2048), row[i].y);
        dataset_close(s.d);
    }
}

TEST(a_missing_array_is_named_with_its_option) {
    static const int64_t a[] = {1, 2};
    Source s;
    Type t = type_of(DT_I64, 1, (int64_t[]){1});
    source_of(&s, 2, t, write_array("a.npy", "<i8", "2,", a, 2), t, "none.npy");
    assert_int_equal(dataset_open(&s.plan, "train", NULL, 0, &s.d, error), EXIT_ENVIRONMENT);
    assert_string_equal(error, "cannot open data file none.npy: No such file or directory\n"
                               "help: data paths are relative to the working directory; --data "
                               "train.y=PATH names another file");
    assert_int_equal(open_one(&s, t, "none.npy"), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, "--data train=PATH names"));
}

TEST(a_field_that_no_array_gives_is_named) {
    static const int64_t a[] = {1, 2};
    Source s;
    Type t = type_of(DT_I64, 1, (int64_t[]){1});
    source_of(&s, 1, t, write_array("a.npy", "<i8", "2,", a, 2), t, "");
    s.plan.n_fields = 2;
    assert_int_equal(dataset_open(&s.plan, "train", NULL, 0, &s.d, error), EXIT_USER);
    assert_string_equal(error, "data.train has no field y, which the model reads");
}

/* What a header lacks is said. */
TEST(headers_say_what_is_wrong) {
    static const struct {
        const char *text, *says;
    } row[] = {
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
         "its element type is not one of"},
        {"{'descr': '<i', 'fortran_order': False, 'shape': (2,)}",
         "its element type is not one of"},
        {"{'descr': '<i8x', 'fortran_order': False, 'shape': (2,)}",
         "its element type is not one of"},
        {"{'fortran_order': False, 'shape': (2,)}", "`descr` is missing"},
        {"{'descr': '<i8', 'shape': (2,)}", "`fortran_order` is missing"},
        {"{'descr': '<i8', 'fortran_order': True, 'shape': (2,)}", "Fortran order"},
        {"{'descr': '<i8', 'fortran_order': False}", "`shape` is missing"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': 2}", "`shape` is missing"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (x)}", "is not a tuple of sizes"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2,2,2,2,2,2,2,2,2)}", "more than 8"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (1152921504606846976,)}", "too long"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (1152921504606846975,4)}",
         "the shape is too large"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}",
         "the shape needs 24 bytes of data, the file has 16"},
        {"{ \"shape\" : ( 2 , 1, 1, 1, 1, 1, 1, 1 ), \"fortran_order\":False,\"descr\":\"<i8\"}",
         NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        uint8_t bytes[256] = "\x93NUMPY\x02";
        size_t n = strlen(row[i].text);
        bytes[8] = (uint8_t)n;
        memcpy(bytes + 12, row[i].text, n);
        NpyHeader h;
        int code = npy_read_header("a.npy", bytes, 12 + n + 16, &h, error);
        assert_int_equal(code, row[i].says ? EXIT_CORRUPT : 0);
        if (code && !strstr(error, row[i].says)) fail_msg("%s, not %s", error, row[i].says);
        if (!code) assert_true(h.rank == 8 && h.dim[0] == 2 && h.data == 12 + n);
    }
}

/* Of masked text each byte is checked, and those that are not chosen stay. */
TEST(masked_text_is_checked_byte_by_byte) {
    enum { T = 10 };
    char path[100];
    int32_t slot[64];
    snprintf(path, sizeof path, "%s/masked", scratch);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("abcdefghijabcdekfghij.", f);
    fclose(f);
    Source s;
    Type t = type_of(DT_I32, 2, (int64_t[]){2, T});
    source_of(&s, 1, t, path, t, "");
    memcpy(s.strings, "\0train\0inputs", 14);
    s.source = (PlanSource){.name = 1,
                            .kind = SOURCE_TEXT,
                            .path = 16,
                            .corruption = CORRUPTION_MLM,
                            .raw = T,
                            .noise = 2,
                            .mask = 7,
                            .words = 50,
                            .to = 1};
    assert_int_equal(dataset_open(&s.plan, "train", NULL, 0, &s.d, error), 0);
    assert_int_equal(s.d->samples, 2);
    for (int below = 'k'; below <= 'k' + 1; below++) {
        s.d->range[0].below = below;
        assert_int_equal(dataset_read(s.d, &(SampleAt){0}, 1, 0, (uint8_t *)slot, error), 0);
        int code = dataset_read(s.d, &(SampleAt){.k = 1}, 1, 1, (uint8_t *)slot, error);
        assert_int_equal(code, below == 'k' ? EXIT_CORRUPT : 0);
        if (code) assert_non_null(strstr(error, "masked: byte 15: 107 in field inputs is outside"));
    }
    int same = 0;
    for (int i = 0; i < 2 * T; i++) {
        bool kept = slot[i] == "abcdefghijabcdekfghij"[i];
        assert_true(kept || slot[i] == 7 || slot[i] < 50);
        same += kept;
    }
    assert_true(same >= 16 && same < 20);
    dataset_close(s.d);
}

RUN_TESTS(scratch_make, scratch_remove)
