/* memory_place on random blocks: nothing overlaps or lies outside, the result depends only on the
 * blocks, and the shapes of training are packed as tightly as possible. */
#include <string.h>

#include "memory.h"
#include "test.h"

static uint64_t state = 1;

static uint32_t below(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static uint64_t bound_of(const MemoryBlock *b, uint32_t n, uint32_t n_time) {
    uint64_t most = 0;
    for (uint32_t t = 0; t < n_time; t++) {
        uint64_t live = 0;
        for (uint32_t i = 0; i < n; i++)
            if (b[i].start <= t && t <= b[i].end) live += b[i].size;
        most = MAX(most, live);
    }
    return most;
}

static void assert_apart(const MemoryBlock *b, uint32_t n, uint64_t height) {
    for (uint32_t i = 0; i < n; i++) {
        assert_true(b[i].offset % MEMORY_ALIGN == 0);
        assert_true(b[i].offset + b[i].size <= height);
        for (uint32_t j = 0; j < i; j++) {
            bool in_time = b[i].start <= b[j].end && b[j].start <= b[i].end;
            bool in_space =
                b[i].offset < b[j].offset + b[j].size && b[j].offset < b[i].offset + b[i].size;
            assert_false(in_time && in_space);
        }
    }
}

TEST(random_blocks_stay_apart) {
    enum { MOST = 120, TIME = 400 };
    for (int round = 0; round < 200; round++) {
        Arena *a = arena_new();
        MemoryBlock b[MOST], again[MOST];
        uint32_t n = 1 + below(MOST), longest = 1 + below(TIME);
        memset(b, 0, sizeof b);
        for (uint32_t i = 0; i < n; i++) {
            b[i].start = below(TIME);
            uint32_t end = b[i].start + below(longest);
            b[i].end = MIN(end, TIME - 1u);
            b[i].size = MEMORY_ALIGN * (1 + (uint64_t)below(1u << below(12)));
        }
        memcpy(again, b, sizeof b);
        uint64_t height = memory_place(a, b, n, TIME);
        assert_apart(b, n, height);
        assert_true(height >= bound_of(b, n, TIME));
        assert_int_equal(memory_place(a, again, n, TIME), height);
        assert_memory_equal(b, again, sizeof *b * n);
        arena_free(a);
    }
}

/* Saved activations nest, gradients stay from their layer's backward to the end. */
TEST(training_packs_without_waste) {
    enum { LAYERS = 40, TIME = 2 * LAYERS + 2 };
    Arena *a = arena_new();
    MemoryBlock b[2 * LAYERS];
    memset(b, 0, sizeof b);
    for (uint32_t i = 0; i < LAYERS; i++) {
        b[i] = (MemoryBlock){.size = 256 * 12, .start = i, .end = TIME - 2 - i};
        b[LAYERS + i] = (MemoryBlock){.size = 256 * 28, .start = TIME - 2 - i, .end = TIME - 1};
    }
    uint64_t height = memory_place(a, b, ARRAY_LEN(b), TIME);
    assert_apart(b, ARRAY_LEN(b), height);
    assert_int_equal(height, bound_of(b, ARRAY_LEN(b), TIME));
    arena_free(a);
}

/* Gathered units overlap their neighbours only: two places are enough for all. */
TEST(a_chain_takes_two_places) {
    enum { UNITS = 50 };
    Arena *a = arena_new();
    MemoryBlock b[UNITS];
    memset(b, 0, sizeof b);
    for (uint32_t i = 0; i < UNITS; i++)
        b[i] = (MemoryBlock){.size = 4096, .start = 10 * i, .end = 10 * i + 15};
    uint64_t height = memory_place(a, b, UNITS, 10 * UNITS + 10);
    assert_apart(b, UNITS, height);
    assert_int_equal(height, 2 * 4096);
    arena_free(a);
}

/* The largest first leaves a gap here; what is large and lives long, before it, leaves none. */
TEST(long_lives_come_before_large_ones) {
    static const uint32_t shape[][3] = {{1, 1, 4}, {4, 4, 2}, {0, 1, 2},
                                        {2, 3, 3}, {1, 3, 3}, {3, 5, 3}};
    enum { N = ARRAY_LEN(shape), TIME = 6 };
    Arena *a = arena_new();
    MemoryBlock b[N];
    memset(b, 0, sizeof b);
    for (uint32_t i = 0; i < N; i++)
        b[i] = (MemoryBlock){.size = 4096 * shape[i][2], .start = shape[i][0], .end = shape[i][1]};
    uint64_t height = memory_place(a, b, N, TIME);
    assert_apart(b, N, height);
    assert_int_equal(height, bound_of(b, N, TIME));
    arena_free(a);
}

TEST(nothing_takes_no_place) {
    Arena *a = arena_new();
    assert_int_equal(memory_place(a, NULL, 0, 5), 0);
    arena_free(a);
}

TEST(one_block_takes_its_size) {
    Arena *a = arena_new();
    MemoryBlock b = {.size = 4096, .start = 1, .end = 3};
    assert_int_equal(memory_place(a, &b, 1, 5), 4096);
    arena_free(a);
}

RUN_TESTS(NULL, NULL)
