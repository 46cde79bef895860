/* The parser survives any bytes: every model of the fuzz corpus parses, and every version of it
 * that is truncated, has flipped bytes or repeated parts is parsed with or without errors. */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syntax.h"

typedef struct Model {
    char name[300];
    char *text;
    size_t size;
} Model;

static Model models[32];
static int n_models;

static int load_models(void **state) {
    (void)state;
    const char *root = getenv("FSDP_ROOT");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/fsd", root ? root : ".");
    DIR *d = opendir(folder);
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));) {
        if (!strstr(e->d_name, ".fsd") || n_models == 32) continue;
        char path[4400];
        Model *m = &models[n_models++];
        snprintf(m->name, sizeof m->name, "%s", e->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        m->text = read_file(path, &m->size);
        if (!m->text) return -1;
    }
    closedir(d);
    return 0;
}

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

/* Parses; a parse without result must have reported an error, one with a result none. */
static bool parses(const char *text, size_t n) {
    Arena *arena = arena_new();
    DiagSet ds;
    diag_init(&ds, arena);
    ds.write = ignore;
    bool right = parse_bytes(&ds, "test.fsd", text, n);
    assert_int_equal(right, ds.errors == 0);
    assert_true(ds.errors <= 21);
    arena_free(arena);
    return right;
}

static uint32_t random_below(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

TEST(test_every_model_parses) {
    assert_true(n_models >= 9);
    for (int i = 0; i < n_models; i++)
        if (!parses(models[i].text, models[i].size)) fail_msg("%s does not parse", models[i].name);
}

TEST(test_truncated_models) {
    for (int i = 0; i < n_models; i++)
        for (size_t n = 0; n < models[i].size; n += 5) parses(models[i].text, n);
}

TEST(test_flipped_bytes) {
    uint64_t seed = 1;
    for (int i = 0; i < n_models; i++)
        for (int round = 0; round < 100; round++) {
            char *copy = malloc(models[i].size);
            memcpy(copy, models[i].text, models[i].size);
            for (int k = 0; k < 3; k++)
                copy[random_below(&seed, (uint32_t)models[i].size)] =
                    (char)random_below(&seed, 256);
            parses(copy, models[i].size);
            free(copy);
        }
}

TEST(test_random_bytes) {
    static const char alphabet[] = "{}()[]\n;=,.:@ a1\"#+-*/<>\0\xc3\xa9\xff";
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        char text[200];
        size_t n = random_below(&seed, sizeof text);
        for (size_t k = 0; k < n; k++) text[k] = alphabet[random_below(&seed, sizeof alphabet - 1)];
        parses(text, n);
    }
}

RUN_TESTS(load_models, NULL)
