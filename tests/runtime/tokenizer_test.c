/* Text and ids: the same as those of the library that made tests/runtime/tokenizer.json
 * (make_tokenizer.py), and invalid files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include <jansson.h>

#include "data.h"
#include "scratch.h"

static char error[ERROR_BYTES];

/* In the source tree. */
static const char *file(const char *name) {
    static char path[4096];
    const char *root = getenv("FSDP_ROOT");
    snprintf(path, sizeof path, "%s/tests/runtime/%s", root ? root : ".", name);
    return path;
}

TEST(texts_have_the_ids_of_the_library) {
    Tokenizer *t;
    assert_int_equal(tokenizer_open(&t, file("tokenizer.json"), error), 0);
    json_t *cases = json_load_file(file("tokenizer-cases.json"), 0, NULL), *row;
    assert_true(json_array_size(cases) > 300);
    size_t i;
    json_array_foreach(cases, i, row) {
        const char *text = json_string_value(json_array_get(row, 0));
        const json_t *want = json_array_get(row, 1);
        int32_t ids[1000];
        int64_t n;
        assert_int_equal(tokenizer_encode(t, text, ids, &n, error), 0);
        assert_int_equal(n, json_array_size(want));
        Buf back = {0};
        for (int64_t k = 0; k < n; k++) {
            size_t length;
            assert_int_equal(ids[k], json_integer_value(json_array_get(want, (size_t)k)));
            const char *bytes = tokenizer_bytes(t, ids[k], &length);
            buf_write(&back, bytes, length);
        }
        char *whole = buf_take(&back);
        assert_string_equal(whole ? whole : "", text);
        free(whole);
    }
    json_decref(cases);
    tokenizer_close(t);
}

/* Of added tokens that begin alike the longest counts, wherever it stands in the list. */
TEST(the_longest_added_token_counts) {
    static const char *const order[] = {"<|end|>", "<|end|>x", "<|end|>xy", "<|end|>x", "<|end|>"};
    for (int first = 0; first < 3; first += 2) {
        size_t size;
        char *text = read_file(file("tokenizer.json"), &size), path[512];
        json_t *root = json_loadb(text, size, 0, NULL);
        json_t *added = json_object_get(root, "added_tokens");
        json_int_t id =
            (json_int_t)json_object_size(json_object_get(json_object_get(root, "model"), "vocab"));
        json_array_clear(added);
        for (int i = 0; i < 3; i++)
            json_array_append_new(
                added, json_pack("{s:I,s:s}", "id", id + i, "content", order[first + i]));
        snprintf(path, sizeof path, "%s/longest.json", scratch);
        assert_int_equal(json_dump_file(root, path, 0), 0);
        Tokenizer *t;
        assert_int_equal(tokenizer_open(&t, path, error), 0);
        assert_int_equal(tokenizer_ids(t), id + 3);
        for (int i = 0; i < 3; i++) {
            int32_t ids[100];
            int64_t n;
            assert_int_equal(tokenizer_encode(t, order[first + i], ids, &n, error), 0);
            assert_true(n == 1 && ids[0] == id + i);
        }
        tokenizer_close(t);
        json_decref(root);
        free(text);
    }
}

/* Merges as older files have them, as text; one of ids 0. */
TEST(merges_may_be_texts) {
    size_t size, i;
    char *text = read_file(file("tokenizer.json"), &size), path[512];
    json_t *root = json_loadb(text, size, 0, NULL), *pair;
    json_t *model = json_object_get(root, "model"), *merges = json_object_get(model, "merges");
    json_t *texts = json_array();
    json_array_foreach(merges, i, pair) json_array_append_new(
        texts, json_sprintf("%s %s", json_string_value(json_array_get(pair, 0)),
                            json_string_value(json_array_get(pair, 1))));
    json_array_append_new(texts, json_string("! !"));
    json_array_append_new(texts, json_string("! !")); /* counts once */
    json_t *vocabulary = json_object_get(model, "vocab");
    assert_int_equal(json_integer_value(json_object_get(vocabulary, "!")), 0);
    json_int_t id = (json_int_t)json_object_size(vocabulary);
    json_array_clear(json_object_get(root, "added_tokens"));
    json_object_set_new(vocabulary, "!!", json_integer(id));
    json_object_set_new(model, "merges", texts);
    snprintf(path, sizeof path, "%s/texts.json", scratch);
    assert_int_equal(json_dump_file(root, path, 0), 0);
    Tokenizer *t;
    int32_t ids[20];
    int64_t n;
    assert_int_equal(tokenizer_open(&t, path, error), 0);
    assert_int_equal(tokenizer_encode(t, "!!!", ids, &n, error), 0);
    assert_true(n == 2 && ids[0] == id && ids[1] == 0);
    assert_int_equal(tokenizer_encode(t, " Software", ids, &n, error), 0);
    assert_true(n < 9);
    tokenizer_close(t);
    static const char *const bad[] = {"ab", " a", "a ", "a \u4e00", ""};
    for (i = 0; i < ARRAY_LEN(bad); i++) {
        json_array_set_new(texts, 0, json_string(bad[i]));
        assert_int_equal(json_dump_file(root, path, 0), 0);
        assert_int_equal(tokenizer_open(&t, path, error), EXIT_CORRUPT);
    }
    json_decref(root);
    free(text);
}

TEST(unknown_characters_are_refused) {
    Tokenizer *t;
    int32_t ids[100];
    int64_t n;
    assert_int_equal(tokenizer_open(&t, file("tokenizer.json"), error), 0);
    static const char *const text[] = {"a \u0939", "a\u0301", "\xff"};
    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        assert_int_equal(tokenizer_encode(t, text[i], ids, &n, error), EXIT_USER);
    tokenizer_close(t);
}

/* The file with one text in it replaced by another. */
static int open_changed(const char *from, const char *to) {
    size_t size;
    char *text = read_file(file("tokenizer.json"), &size), *at = strstr(text, from);
    assert_non_null(at);
    char path[512];
    snprintf(path, sizeof path, "%s/changed.json", scratch);
    FILE *f = fopen(path, "w");
    fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(f);
    free(text);
    Tokenizer *t = NULL;
    int code = tokenizer_open(&t, path, error);
    tokenizer_close(t);
    return code;
}

TEST(other_files_are_refused) {
    static const struct {
        const char *from, *to, *says;
        int code;
    } change[] = {
        {"\"BPE\"", "\"Unigram\"", "not BPE", EXIT_USER},
        {"\"normalizer\":null", "\"normalizer\":{\"type\":\"NFC\"}", "normalizer", EXIT_USER},
        {"\"post_processor\":{\"type\":\"ByteLevel\"", "\"post_processor\":{\"type\":\"Other\"",
         "post_processor", EXIT_USER},
        {"\"use_regex\":true", "\"use_regex\":false", "pre_tokenizer", EXIT_USER},
        {"\"add_prefix_space\":false", "\"add_prefix_space\":true", "pre_tokenizer", EXIT_USER},
        {"\"byte_fallback\":false", "\"byte_fallback\":true", "byte_fallback", EXIT_USER},
        {"\"vocab\"", "\"words\"", "no `vocab`", EXIT_CORRUPT},
        {"\"a\":", "\"aa\":", "lacks some single bytes", EXIT_CORRUPT},
        {"\"\u0100\":", "\"\u0100\u0100\":", "lacks some single bytes", EXIT_CORRUPT}, /* 0 */
        {"\"a\":", "\"\u4e00\":", "not made of bytes", EXIT_CORRUPT},
        {"\"merges\":[[\"", "\"merges\":[[\"\u4e00", "that `vocab` lacks", EXIT_CORRUPT},
        {"\"merges\":[[", "\"merges\":[[\"x\"],[", "not a pair", EXIT_CORRUPT},
        {"{", "[", "not a tokenizer", EXIT_CORRUPT},
    };
    for (size_t i = 0; i < ARRAY_LEN(change); i++) {
        assert_int_equal(open_changed(change[i].from, change[i].to), change[i].code);
        assert_non_null(strstr(error, change[i].says));
    }
    Tokenizer *t;
    assert_int_equal(tokenizer_open(&t, file("none.json"), error), EXIT_ENVIRONMENT);
}

RUN_TESTS(scratch_make, scratch_remove)
