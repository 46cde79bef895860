/* Checkpoints: reading returns what was written, for any range, any writer and any memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "checkpoint/states.h"
#include "test.h"

/* ---- what is read */

static void assert_reads(Checkpoint *k, uint32_t t, int64_t first, int64_t n) {
    const CkTensor *of = &checkpoint_contents(k)->tensor[t];
    const Layout *l = &checkpoint_contents(k)->vector[of->vector].layout;
    LayoutPlace place = ck_place(of);
    float got[128];
    assert_int_equal(checkpoint_read(k, t, first, n, got, error), 0);
    for (int64_t i = 0; i < n; i++)
        assert_true(got[i] == value_of(of->vector, layout_element(l, &place, first + i)));
}

static float memory[VECTORS][512];

static const char *look_at_memory(void *user, uint32_t v, int64_t first) {
    (void)user;
    return (const char *)&memory[v][first];
}

TEST_WITH(every_range_of_every_tensor_reads_back, begin, end) {
    static const int64_t mesh[][2] = {{1, 1}, {1, 5}, {3, 2}};
    for (uint32_t v = 0; v < VECTORS; v++)
        for (int64_t e = 0; e < (int64_t)ARRAY_LEN(memory[v]); e++) memory[v][e] = value_of(v, e);
    for (size_t i = 0; i < 4 * ARRAY_LEN(mesh); i++) {
        form = i / 3 % 2 ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        look_at = i / 6 ? look_at_memory : NULL;
        CkContents c = state_of(mesh[i % 3][0], mesh[i % 3][1], paths);
        write_state(&c, scratch);
        Checkpoint *k = open_step();
        for (uint32_t t = 0; t < c.n_tensor; t++)
            for (int64_t first = 0; first < c.tensor[t].elements; first++)
                for (int64_t n = 0; n <= c.tensor[t].elements - first; n++)
                    assert_reads(k, t, first, n);
        assert_int_equal(checkpoint_verify(k, error), 0);
        checkpoint_close(k);
        ck_remove_folder(in_folder("step-00000400"));
    }
}

/* ---- how much is read */

static uint64_t bytes_read(void) {
    char text[512] = "";
    FILE *f = fopen("/proc/self/io", "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    return strtoull(strstr(text, "rchar:") + 6, NULL, 10);
}

TEST_WITH(rows_of_many_columns_are_read_about_once, begin, end) {
    enum { SHARDS = 40, ROWS = 300, COLUMNS = 2000 };
    static float row[COLUMNS];
    for (int i = 0; i < 2; i++) {
        form = i ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        CkContents c = empty_state(1, SHARDS, paths);
        add_vector(&c, 2, 1);
        add_chunks(&c, "wide", 2, (int64_t[]){ROWS, COLUMNS}, 1);
        assert_int_equal(ck_files(&c, paths, error), 0);
        write_state(&c, scratch);
        Checkpoint *k = open_step();
        uint64_t before = bytes_read();
        for (int64_t r = 0; r < ROWS; r++) {
            assert_int_equal(checkpoint_read(k, 0, r * COLUMNS, COLUMNS, row, error), 0);
            for (int64_t e = 0; e < COLUMNS; e++) {
                int64_t shard = e / (COLUMNS / SHARDS), at = e % (COLUMNS / SHARDS);
                int64_t of_vector = shard * c.vector[0].layout.shard + r * (COLUMNS / SHARDS) + at;
                assert_true(row[e] == value_of(0, of_vector));
            }
        }
        assert_true(bytes_read() - before < 3 * sizeof(float) * ROWS * COLUMNS);
        checkpoint_close(k);
        ck_remove_folder(in_folder("step-00000400"));
    }
}

/* ---- blocks */

static uint16_t odd_value(int64_t e) { return (uint16_t)(e * 40503 + 7); }

static int fetch_odd(void *user, uint32_t v, int64_t first, int64_t n, void *to, char *why) {
    if (v) return fetch(user, v, first, n, to, why);
    for (int64_t i = 0; i < n; i++) ((uint16_t *)to)[i] = odd_value(first + i);
    return 0;
}

/* After an odd number of elements of 2 bytes, one of 4 bytes lies across the end of a block: in the
 * file of form sharded, and in what a rank writes of form full. */
static void across_blocks(void) {
    enum { ODD = 3, MANY = (CK_BLOCK + 4096) / 4, AROUND = 2000 };
    static float got[2 * AROUND];
    uint16_t odd[ODD];
    const char *folder = in_folder(form == CHECKPOINT_FULL ? "full" : "sharded");
    most_file = 1u << 30;
    CkContents c = empty_state(1, 1, paths);
    add_vector(&c, 2, ODD);
    vector[0].dtype = DT_BF16;
    add_tensor(&c, "odd", 1, (int64_t[]){ODD}, 0);
    add_vector(&c, 2, MANY);
    add_tensor(&c, "many", 1, (int64_t[]){MANY}, 0);
    assert_int_equal(ck_files(&c, paths, error), 0);
    assert_int_equal(ck_blocks(&c.file[0]), 2);
    assert_int_equal((CK_BLOCK - c.file[0].header - sizeof odd) % sizeof(float), 2);
    CkSource source = {.fetch = fetch_odd};
    assert_int_equal(ck_begin_step(&c, folder, error), 0);
    assert_int_equal(ck_write_rank(&c, folder, 0, &source, error), 0);
    assert_int_equal(ck_write_manifest(&c, folder, error), 0);
    Checkpoint *k;
    assert_int_equal(checkpoint_open(&k, folder, error), 0);
    assert_int_equal(checkpoint_read(k, 0, 0, ODD, odd, error), 0);
    for (int64_t e = 0; e < ODD; e++) assert_int_equal(odd[e], odd_value(e));
    int64_t first = (int64_t)(CK_BLOCK - c.file[0].header) / 4 - AROUND;
    assert_int_equal(checkpoint_read(k, 1, first, 2 * AROUND, got, error), 0);
    for (int64_t e = 0; e < 2 * AROUND; e++) assert_true(got[e] == value_of(1, first + e));
    assert_int_equal(checkpoint_verify(k, error), 0);
    checkpoint_close(k);
}

TEST_WITH(an_element_may_end_in_the_next_block, begin, end) {
    for (form = CHECKPOINT_SHARDED; form <= CHECKPOINT_FULL; form++) across_blocks();
}

/* ---- what is written from the memory of the source */

enum { WIDE = 70000 + 33 + 234000 };
static float *wide; /* the vector, element by element */
static int looks, lefts;

static const char *look(void *user, uint32_t v, int64_t first) {
    (void)user;
    (void)v;
    looks++;
    return (const char *)(wide + first);
}

static void note_left(void *user, uint32_t v) {
    (void)user;
    (void)v;
    lefts++;
}

static CkContents wide_state(Arena *a) {
    CkContents c = empty_state(1, 2, a);
    add_vector(&c, 2, WIDE);
    add_tensor(&c, "a", 2, (int64_t[]){100, 700}, 0);
    add_tensor(&c, "b", 1, (int64_t[]){33}, 70000);
    add_tensor(&c, "c", 2, (int64_t[]){260, 900}, 70033);
    assert_int_equal(ck_files(&c, a, error), 0);
    return c;
}

static void write_looked_at(CkContents *c) {
    CkSource source = {.fetch = fetch, .look = look, .left = note_left};
    assert_int_equal(ck_begin_step(c, in_folder("looked"), error), 0);
    looks = lefts = 0;
    for (int32_t r = 0; r < 2; r++)
        assert_int_equal(ck_write_rank(c, in_folder("looked"), r, &source, error), 0);
    assert_true(looks > 0);
    assert_int_equal(lefts, 2);
}

/* Wherever it is in memory, the files are those of a copy, and so are their hashes. */
TEST_WITH(memory_is_written_from_any_address, begin, end) {
    static const size_t shifts[] = {0, 4, 256, 512, 2800, 4096 + 20};
    CkContents c = wide_state(paths), looked = wide_state(paths);
    char *memory = ck_buffer(2 * WIDE * sizeof *wide);
    write_state(&c, scratch);
    for (size_t k = 0; k < ARRAY_LEN(shifts); k++) {
        wide = (float *)(void *)(memory + shifts[k]);
        for (int64_t i = 0; i < WIDE + 64; i++) wide[i] = value_of(0, i);
        write_looked_at(&looked);
        assert_int_equal(system(arena_printf(paths,
                                             "cd %s && diff -r -x manifest.json "
                                             "step-00000400 looked && rm -r looked",
                                             scratch)),
                         0);
        for (uint32_t i = 0; i < c.n_file; i++)
            assert_memory_equal(c.file[i].block, looked.file[i].block,
                                ck_blocks(&c.file[i]) * sizeof(uint64_t));
    }
    ck_buffer_free(memory, 2 * WIDE * sizeof *wide);
}

/* A disk that wants addresses at pages, and offsets at sectors of 512. Or one that does not say. */
static bool coarse, silent;
static int astray; /* parts that it would refuse */

int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *s) {
    int code = (int)syscall(SYS_statx, fd, path, flags, mask, s);
    if (silent) s->stx_mask &= ~STATX_DIOALIGN;
    if (code || !coarse) return code;
    s->stx_mask |= STATX_DIOALIGN;
    s->stx_dio_mem_align = 4096;
    s->stx_dio_offset_align = 512;
    return 0;
}

static int short_writes; /* that take one unit of alignment alone, of those to come */

ssize_t pwritev(int fd, const struct iovec *part, int n, off_t at) {
    bool direct = coarse && fcntl(fd, F_GETFL) & O_DIRECT;
    for (int i = 0; direct && i < n; i++) astray += (uintptr_t)part[i].iov_base % 4096 != 0;
    if (short_writes > 0 && part[0].iov_len > CK_ALIGN && short_writes--)
        return (ssize_t)syscall(SYS_pwrite64, fd, part[0].iov_base, (long)CK_ALIGN, (long)at);
    return (ssize_t)syscall(SYS_pwritev, fd, part, (long)n, (long)at, 0L);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
    struct iovec part = {(void *)(uintptr_t)from, n};
    return pwritev(fd, &part, 1, at);
}

TEST_WITH(addresses_may_be_coarser_than_offsets, begin, end) {
    char *memory = ck_buffer(2 * WIDE * sizeof *wide);
    coarse = true;
    for (size_t shift = 0; shift < 4096; shift += 512) {
        form = shift % 1024 ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        CkContents c = wide_state(paths);
        wide = (float *)(void *)(memory + shift);
        for (int64_t i = 0; i < WIDE + 64; i++) wide[i] = value_of(0, i);
        write_looked_at(&c);
        assert_int_equal(system(arena_printf(paths, "rm -r %s/looked", scratch)), 0);
    }
    coarse = false;
    assert_int_equal(astray, 0);
    ck_buffer_free(memory, 2 * WIDE * sizeof *wide);
}

/* A file system may refuse O_DIRECT. */
static void skip_without_direct(void) {
    int fd = open(in_folder("direct"), O_WRONLY | O_CREAT | O_DIRECT, 0666);
    if (fd < 0) skip();
    close(fd);
}

TEST_WITH(what_a_disk_wants_is_not_guessed, begin, end) {
    skip_without_direct();
    char *memory = ck_buffer(2 * WIDE * sizeof *wide);
    wide = (float *)(void *)memory;
    silent = true;
    for (int i = 0; i < 2; i++) {
        form = i ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        CkContents c = wide_state(paths);
        look_at = look;
        looks = 0;
        write_state(&c, scratch);
        assert_int_equal(looks, 0);
        ck_remove_folder(in_folder("step-00000400"));
    }
    silent = false;
    ck_buffer_free(memory, 2 * WIDE * sizeof *wide);
}

/* A block that has given up its buffer is not taken for another one of the file. */
TEST_WITH(pieces_of_many_blocks_read_back_in_any_order, begin, end) {
    enum { MANY = 8 * CK_BLOCK / 4, PIECE = 500 }; /* more blocks than buffers */
    static float got[PIECE];
    CkContents c = empty_state(1, 1, paths);
    add_vector(&c, 2, MANY);
    add_tensor(&c, "many", 1, (int64_t[]){MANY}, 0);
    assert_int_equal(ck_files(&c, paths, error), 0);
    write_state(&c, scratch);
    Checkpoint *k = open_step();
    for (int64_t i = 0; i < 60; i++) {
        int64_t first = i * 7919 * 997 % (MANY - PIECE);
        assert_int_equal(checkpoint_read(k, 0, first, PIECE, got, error), 0);
        for (int64_t e = 0; e < PIECE; e++) assert_true(got[e] == value_of(0, first + e));
    }
    checkpoint_close(k);
}

/* A vector that begins where a block ends is not part of that block: both vectors are left. */
TEST_WITH(a_vector_may_begin_with_a_block, begin, end) {
    CkContents c;
    int64_t many = CK_BLOCK / sizeof *wide;
    for (int i = 0; i < 2; i++) {
        c = empty_state(1, 1, paths);
        add_vector(&c, 2, many);
        add_tensor(&c, "many", 1, &many, 0);
        add_vector(&c, 2, 5);
        add_tensor(&c, "five", 1, (int64_t[]){5}, 0);
        assert_int_equal(ck_files(&c, paths, error), 0);
        if (!i) many -= (int64_t)(c.file[0].header / sizeof *wide);
    }
    assert_int_equal(c.file[0].header + (uint64_t)many * sizeof *wide, CK_BLOCK);
    CkSource source = {.fetch = fetch, .left = note_left};
    assert_int_equal(ck_begin_step(&c, in_folder("step-00000400"), error), 0);
    lefts = 0;
    assert_int_equal(ck_write_rank(&c, in_folder("step-00000400"), 0, &source, error), 0);
    assert_int_equal(lefts, 2);
}

/* ---- writes and reads that end early */

TEST_WITH(short_writes_go_on_where_they_end, begin, end) {
    CkContents c = wide_state(paths);
    for (int i = 0; i < 2; i++) {
        form = c.form = i ? CHECKPOINT_FULL : CHECKPOINT_SHARDED;
        assert_int_equal(ck_files(&c, paths, error), 0);
        short_writes = 3;
        write_state(&c, scratch);
        assert_int_equal(short_writes, 0);
        assert_int_equal(read_all(), 0);
        ck_remove_folder(in_folder("step-00000400"));
    }
}

static bool picky;
static int short_reads; /* to come */

/* Past the cache the disk refuses offsets within a page, and a read may end there. */
ssize_t pread(int fd, void *to, size_t n, off_t at) {
    bool direct = picky && fcntl(fd, F_GETFL) & O_DIRECT;
    if (direct && at % CK_ALIGN) {
        errno = EINVAL;
        return -1;
    }
    bool ends = direct && short_reads > 0 && short_reads--;
    return (ssize_t)syscall(SYS_pread64, fd, to, ends ? 1000 : n, at);
}

TEST_WITH(a_short_read_goes_on_through_the_cache, begin, end) {
    skip_without_direct();
    CkContents c = wide_state(paths);
    write_state(&c, scratch);
    picky = true;
    short_reads = 2;
    assert_int_equal(read_all(), 0);
    assert_int_equal(short_reads, 0);
    picky = false;
}

/* ---- form full */

/* The data of all whole files, tensor by tensor in the order of a state of one rank. */
static char *whole_data(CkContents *c, size_t *bytes) {
    char *all = arena_alloc(paths, 4 * WIDE);
    *bytes = 0;
    for (uint32_t k = 0; k < c->n_full_file; k++) {
        size_t n;
        char *file = read_file(
            arena_printf(paths, "%s/step-00000400/%s", scratch, c->full_file[k].name), &n);
        assert_non_null(file);
        assert_int_equal(n, c->full_file[k].size);
        memcpy(all + *bytes, file + c->full_file[k].header, n - c->full_file[k].header);
        *bytes += n - c->full_file[k].header;
        free(file);
    }
    return all;
}

/* Whatever borders ranks have in the files, and wherever their memory is. */
TEST_WITH(whole_files_are_those_of_one_rank, begin, end) {
    static const size_t shifts[] = {0, 4, 512, 2800};
    char *memory = ck_buffer(2 * WIDE * sizeof *wide);
    form = CHECKPOINT_FULL;
    for (size_t k = 0; k < 2 * ARRAY_LEN(shifts); k++) {
        most_file = k % 2 ? 1u << 30 : 300000;
        CkContents c = wide_state(paths);
        wide = (float *)(void *)(memory + shifts[k / 2]);
        for (int64_t i = 0; i < WIDE + 64; i++) wide[i] = value_of(0, i);
        looks = 0;
        look_at = look;
        write_state(&c, scratch);
        size_t n;
        char *all = whole_data(&c, &n);
        assert_int_equal(n, WIDE * sizeof *wide);
        assert_memory_equal(all, wide, n);
        assert_true(looks > 0);
        assert_int_equal(read_all(), 0);
        ck_remove_folder(in_folder("step-00000400"));
    }
    ck_buffer_free(memory, 2 * WIDE * sizeof *wide);
}

/* A header is at least one unit of alignment and ends at one; another program's may be longer, by a
 * block at most. */
TEST_WITH(a_whole_file_has_a_size_that_its_data_allow, begin, end) {
    enum { DATA = 1000, HEADER = 3 * CK_ALIGN, MOST = HEADER + DATA + CK_BLOCK };
    static const struct {
        uint64_t size;
        bool fits;
    } row[] = {
        {0, false},
        {DATA, false},
        {DATA + 1, false},
        {DATA - CK_ALIGN, false},
        {DATA + CK_ALIGN - 1, false},
        {DATA + CK_ALIGN, true},
        {DATA + CK_ALIGN + 1, false},
        {DATA + HEADER, true},
        {DATA + HEADER + CK_ALIGN, true},
        {MOST, true},
        {MOST + CK_ALIGN, false},
        {UINT64_MAX - 23, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        TensorPiece w = {.header = HEADER, .size = HEADER + DATA};
        uint64_t want = row[i].fits ? row[i].size : HEADER + DATA;
        assert_true(ck_set_size(&w, row[i].size) == row[i].fits);
        assert_true(w.size == want && w.header == want - DATA);
    }
}

TEST_WITH(parts_have_the_hash_of_the_whole, begin, end) {
    char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * i / 7);
    for (size_t first = 0; first <= 600; first += 75) {
        struct iovec part[] = {{bytes, first}, {bytes + first, 300}, {bytes + first + 300, 100}};
        for (size_t n = 0; n <= first + 400; n++)
            assert_int_equal(hash_parts(part, n), hash_bytes(bytes, n, 0));
    }
}

TEST_WITH(a_manifest_says_what_was_written, begin, end) {
    CkContents c = state_of(1, 2, paths), back;
    assert_int_equal(read_manifest(&c, &back), 0);
    assert_int_equal(back.step, 400);
    assert_int_equal(back.samples, 12800);
    assert_int_equal(back.run, 0xabcdef);
    assert_true(back.best_evaluation == 2.5 && !back.has_evaluation);
    assert_string_equal(ck_setting(&back, "train.seed"), "7");
    assert_null(ck_setting(&back, "train"));
    assert_int_equal(back.n_tensor, c.n_tensor);
    assert_string_equal(back.tensor[2].name, c.tensor[2].name);
    assert_int_equal(ck_find_tensor(&back, "scalar")->rank, 0);
    assert_false(back.evaluation_due || back.loss_scale.scale > 0);
    c.evaluation_due = c.has_evaluation = true;
    c.evaluation = 1.25;
    c.loss_scale = (LossScale){.skipped = 2}; /* without a scale too */
    assert_int_equal(read_manifest(&c, &back), 0);
    assert_true(back.loss_scale.scale == 0 && back.loss_scale.skipped == 2);
    c.loss_scale = (LossScale){.scale = 8, .good = 3, .skipped = 2};
    c.plan = 0xfedcba9876543210;
    c.rules = 1;
    c.config = "{}";
    assert_int_equal(read_manifest(&c, &back), 0);
    assert_true(back.evaluation_due && back.has_evaluation && back.evaluation == 1.25);
    assert_true(back.loss_scale.scale == 8 && back.loss_scale.good == 3 &&
                back.loss_scale.skipped == 2);
    assert_true(back.plan == c.plan && back.rules == 1 && !strcmp(back.config, "{}"));
}

/* Version 4 has whole tensors, each stored as the model has it; only 5 has transposed weights.
 * Other states are never transposed. */
TEST_WITH(a_transposed_weight_needs_a_newer_reader, begin, end) {
    CkContents c = wide_state(paths);
    assert_int_equal(oldest_reader_of(&c), 1);
    c.form = CHECKPOINT_FULL;
    for (int transposed = 0; transposed < 2; transposed++) {
        for (uint32_t i = 0; i < c.n_tensor; i++) c.tensor[i].saved_as = c.tensor[i].name;
        c.tensor[0].transposed = transposed;
        assert_int_equal(ck_files(&c, paths, error), 0);
        assert_true(c.as_saved);
        assert_int_equal(oldest_reader_of(&c), transposed ? 5 : 4);
    }
    c.vector[0].role = STATE_MOMENT1;
    assert_int_equal(oldest_reader_of(&c), 4);
}

/* ---- boxes */

/* Is the box that range of the tensor, as row-major order has it? */
static void assert_box(const CkTensor *t, const CkPiece *p) {
    int64_t n = 1, element = 0;
    for (int k = 0; k < t->rank; k++) {
        assert_true(p->low[k] >= 0 && p->extent[k] >= 1 && p->low[k] + p->extent[k] <= t->dim[k]);
        n *= p->extent[k];
        element = element * t->dim[k] + p->low[k];
    }
    assert_int_equal(n, p->n);
    assert_int_equal(element, p->first);
    int64_t last = 0;
    for (int k = 0; k < t->rank; k++) last = last * t->dim[k] + p->low[k] + p->extent[k] - 1;
    assert_int_equal(last, p->first + p->n - 1);
}

TEST_WITH(ranges_are_cut_into_boxes_of_different_files, begin, end) {
    CkTensor t = {.rank = 4, .dim = {3, 2, 4, 3}, .elements = 72};
    for (int64_t first = 0; first < 72; first++)
        for (int64_t n = 1; n <= 72 - first; n++) {
            CkPiece box[CK_CLASSES];
            uint32_t boxes = ck_boxes(&t, first, n, box), seen = 0;
            int64_t at = first;
            for (uint32_t i = 0; i < boxes; i++) {
                assert_int_equal(box[i].first, at);
                assert_box(&t, &box[i]);
                assert_true(box[i].class >= 0 && box[i].class < CK_CLASSES);
                assert_false(seen >> box[i].class & 1);
                seen |= 1u << box[i].class;
                at += box[i].n;
            }
            assert_int_equal(at, first + n);
        }
}

/* Rank 1 of 2 has columns 15 to 29 of the rows, and so many of the planes' middle axis, each
 * as one box. */
TEST_WITH(columns_are_one_box, begin, end) {
    static const int64_t low[] = {0, 15, 0, 15, 0}, extent[] = {3, 15, 2, 15, 2};
    CkContents c = state_of(1, 2, paths);
    uint32_t n, met = 0;
    CkPiece *p = ck_pieces(&c, 1, paths, &n);
    for (uint32_t i = 0; i < n; i++) {
        const CkTensor *t = &c.tensor[p[i].tensor];
        if (strcmp(t->name, "columns") && strcmp(t->name, "planes")) continue;
        const int at = t->rank == 2 ? 0 : 2;
        assert_memory_equal(p[i].low, &low[at], (size_t)t->rank * sizeof *low);
        assert_memory_equal(p[i].extent, &extent[at], (size_t)t->rank * sizeof *extent);
        assert_int_equal(p[i].class, 0);
        met++;
    }
    assert_int_equal(met, 2);
}

/* A manifest of a million ranks without their files costs no work for each of them. */
TEST_WITH(files_that_are_not_listed_are_not_made, begin, end) {
    CkContents c = state_of(1, 2, paths), back;
    c.mesh.axis[1].size = 1 << 20;
    c.n_vector = 1;
    c.n_tensor = 0;
    vector[0] = (CkVector){
        .role = STATE_PARAM, .dtype = DT_F32, .layout = layout_of(&c.mesh, 2, 1 << 21, false)};
    add_tensor(&c, "a.weight", 1, (int64_t[]){1 << 21}, 0);
    c.n_file = 0;
    assert_int_equal(read_manifest(&c, &back), EXIT_CORRUPT);
    assert_non_null(strstr(error, "list of files is incomplete"));
    assert_in_range(back.n_file, 1, 2);
}

/* Chunks that cut a tensor along no axis, as no version writes them. */
TEST_WITH(chunks_cut_along_an_axis, begin, end) {
    CkContents c = state_of(1, 2, paths), back;
    assert_int_equal(read_manifest(&c, &back), 0);
    c.tensor[c.n_tensor - 3].chunk = 3;
    assert_int_equal(read_manifest(&c, &back), EXIT_CORRUPT);
}

RUN_TESTS(scratch_make, scratch_remove)
