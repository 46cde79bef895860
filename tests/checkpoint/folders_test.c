/* Folders of checkpoints: files that were changed on the disk are rejected by name; which steps are
 * kept and found; one run at a time. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/states.h"
#include "test.h"

/* ---- damage */

static char *slurp(const char *path, size_t *n) {
    char *bytes = read_file(path, n);
    assert_non_null(bytes);
    return bytes;
}

static void put(const char *path, const char *bytes, size_t n) {
    assert_int_equal(write_file_atomic(path, bytes, n), 0);
}

static void flip(const char *path, size_t at, int bit) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    int c = fgetc(f);
    fseek(f, (long)at, SEEK_SET);
    fputc(c ^ 1 << bit, f);
    assert_int_equal(fclose(f), 0);
}

/* Each byte near the file's ends and where data begins, and every fifth one between; few with
 * AddressSanitizer, to which they are all the same. */
static size_t next_byte(size_t at, size_t data, size_t size) {
#ifdef __SANITIZE_ADDRESS__
    enum { NEAR = 4, APART = 41 };
#else
    enum { NEAR = 16, APART = 5 };
#endif
    bool near =
        at < NEAR || at + NEAR + APART > size || (at + NEAR + APART > data && at < data + NEAR);
    return at + (near ? 1 : APART);
}

TEST_WITH(no_flipped_bit_of_a_whole_file_goes_unseen, begin, end) {
    form = CHECKPOINT_FULL;
    CkContents c = state_of(1, 3, paths);
    write_state(&c, scratch);
    assert_true(c.n_full_file > 2);
    for (uint32_t k = 0; k < c.n_full_file; k++) {
        const char *path = in_folder(arena_printf(paths, "step-00000400/%s", c.full_file[k].name));
        size_t size = c.full_file[k].size;
        for (size_t at = 0; at < size; at = next_byte(at, c.full_file[k].header, size)) {
            flip(path, at, (int)(at % 8));
            assert_int_equal(read_all(), EXIT_CORRUPT);
            flip(path, at, (int)(at % 8));
        }
        assert_int_equal(truncate(path, (off_t)size - 1), 0);
        assert_int_equal(read_all(), EXIT_CORRUPT);
        assert_non_null(strstr(error, c.full_file[k].name));
        ck_remove_folder(in_folder("step-00000400"));
        write_state(&c, scratch);
    }
}

TEST_WITH(no_flipped_bit_goes_unseen, begin, end) {
    CkContents c = state_of(1, 3, paths);
    write_state(&c, scratch);
    srand(1);
    for (uint32_t i = 0; i < c.n_file; i++) {
        char name[200];
        snprintf(name, sizeof name, "step-00000400/%s", c.file[i].name);
        const char *path = in_folder(name);
        const size_t size = c.file[i].size;
        for (size_t at = 0; at < size; at = next_byte(at, CK_ALIGN, size)) {
            int bit = rand() % 8;
            flip(path, at, bit);
            assert_int_equal(read_all(), EXIT_CORRUPT);
            assert_non_null(strstr(error, c.file[i].name));
            flip(path, at, bit);
        }
    }
    assert_int_equal(read_all(), 0);
}

TEST_WITH(a_manifest_has_tensors_that_files_can_have, begin, end) {
    for (uint32_t type = 0; type < DT_COUNT; type++) {
        CkContents c = state_of(1, 2, paths), back;
        bool known = file_type_of((int)type) != FT_COUNT;
        c.n_vector = c.n_tensor = 1;
        vector[0].n = 1;
        if (known) vector[0].dtype = type;
        assert_int_equal(ck_files(&c, paths, error), 0);
        vector[0].dtype = type;
        assert_int_equal(read_manifest(&c, &back), known ? 0 : EXIT_CORRUPT);
    }
}

/* JSON has each name once, and safetensors one for itself. */
TEST_WITH(each_tensor_has_a_name_of_its_own, begin, end) {
    for (uint32_t i = 0; i < 3; i++) {
        CkContents c = state_of(1, 2, paths);
        c.tensor[i].name = "__metadata__";
        assert_int_not_equal(ck_files(&c, paths, error), 0);
        assert_non_null(strstr(error, "__metadata__"));
        c.tensor[i].name = c.tensor[i + 1].name;
        assert_int_not_equal(ck_files(&c, paths, error), 0);
        assert_non_null(strstr(error, "two tensors of a checkpoint would be called"));
    }
}

TEST_WITH(no_changed_byte_of_the_manifest_goes_unseen, begin, end) {
    CkContents c = state_of(1, 2, paths), back;
    size_t n;
    char *text = ck_manifest_text(&c, &n);
    for (size_t at = 0; at < n; at++) {
        text[at] ^= (char)(1 << at % 8);
        assert_int_equal(ck_manifest_parse(&back, paths, "m", text, n, error), EXIT_CORRUPT);
        text[at] ^= (char)(1 << at % 8);
        assert_int_equal(ck_manifest_parse(&back, paths, "m", text, at, error), EXIT_CORRUPT);
    }
    free(text);
}

TEST_WITH(a_fault_names_file_and_tensor, begin, end) {
    CkContents c = state_of(1, 2, paths);
    write_state(&c, scratch);
    const char *path = in_folder("step-00000400/rank-00001-of-00002.safetensors");
    flip(path, c.file[c.n_file - 1].rank == 1 ? CK_ALIGN : 0, 3);
    Checkpoint *k = open_step();
    float x[13];
    assert_int_equal(checkpoint_read(k, 0, 0, 0, NULL, error), 0); /* nothing */
    assert_int_equal(checkpoint_read(k, 0, 0, 5, x, error), 0);    /* rank 0's */
    assert_int_equal(checkpoint_read(k, 5, 0, 13, x, error), EXIT_CORRUPT);
    assert_non_null(strstr(error, "step-00000400/rank-00001-of-00002.safetensors: tensor "
                                  "optimizer.state.a.weight.factors: bytes 0 to "));
    checkpoint_close(k);
    unlink(path);
    assert_int_equal(read_all(), EXIT_CORRUPT);
    assert_non_null(strstr(error, "rank-00001-of-00002.safetensors: the file is missing"));
}

TEST_WITH(files_of_another_step_or_rank_are_refused, begin, end) {
    CkContents c = state_of(1, 2, paths);
    write_state(&c, scratch);
    const char *first = in_folder("step-00000400/rank-00000-of-00002.safetensors");
    const char *second = in_folder("step-00000400/rank-00001-of-00002.safetensors");
    size_t n, m;
    char *x = slurp(first, &n), *y = slurp(second, &m);
    put(first, y, m);
    assert_int_equal(read_all(), EXIT_CORRUPT);
    put(first, x, n - 1);
    assert_int_equal(read_all(), EXIT_CORRUPT);
    assert_non_null(strstr(error, "not the"));
    put(first, x, n);
    assert_int_equal(read_all(), 0);
    free(x);
    free(y);
}

/* ---- folders */

static void make_steps(int n) {
    char name[32];
    for (int i = 1; i <= n; i++) {
        ck_step_name(name, i * 10);
        assert_int_equal(mkdir(in_folder(name), 0777), 0);
    }
}

TEST_WITH(what_is_kept, begin, end) {
    make_steps(9);
    ck_retain_steps(scratch, 2, 40, 50);
    uint32_t n;
    int64_t *step = ck_steps(scratch, &n), left[] = {40, 50, 80, 90};
    assert_int_equal(n, 4);
    assert_memory_equal(step, left, sizeof left);
    free(step);
    ck_retain_steps(scratch, 0, 0, -1);
    free(ck_steps(scratch, &n));
    assert_int_equal(n, 4);
    ck_retain_steps(scratch, 1, 0, -1);
    char path[CK_PATH];
    assert_int_equal(ck_resolve_step(scratch, path, error), 0);
    assert_string_equal(path, in_folder("step-00000090"));
    assert_int_equal(ck_resolve_step(in_folder("step-00000090/"), path, error), 0);
    assert_string_equal(path, in_folder("step-00000090"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(ck_resolve_step(scratch, path, error), EXIT_ENVIRONMENT);
}

TEST_WITH(one_run_at_a_time_and_no_litter, begin, end) {
    CkLock lock, other;
    assert_int_equal(ck_lock_folder(scratch, 7, &lock, error), 0);
    assert_int_equal(ck_lock_folder(scratch, 8, &other, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, "run 0000000000000007"));
    ck_unlock(&lock);
    char part[CK_PATH];
    ck_part_path(scratch, 5, 7, part);
    CkContents c = {.n_file = 0};
    assert_int_equal(ck_begin_step(&c, part, error), 0);
    assert_int_equal(mkdir(in_folder("step-00000003.gone-77"), 0777), 0);
    assert_int_equal(mkdir(in_folder("step-3.part-of-mine"), 0777), 0);
    assert_int_equal(ck_lock_folder(scratch, 8, &lock, error), 0);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(access(in_folder("step-00000003.gone-77"), F_OK), -1);
    assert_int_equal(rmdir(in_folder("step-3.part-of-mine")), 0);
    ck_unlock(&lock);
}

TEST_WITH(what_a_linked_step_names_stays, begin, end) {
    CkLock lock;
    assert_int_equal(mkdir(in_folder("archive"), 0777), 0);
    assert_int_equal(close(open(in_folder("archive/file"), O_CREAT | O_WRONLY, 0666)), 0);
    assert_int_equal(symlink("archive", in_folder("step-00000001")), 0);
    assert_int_equal(symlink("archive", in_folder("step-00000002.gone-77")), 0);
    assert_int_equal(ck_lock_folder(scratch, 8, &lock, error), 0);
    ck_retain_steps(scratch, 1, 0, -1);
    ck_unlock(&lock);
    uint32_t n;
    free(ck_steps(scratch, &n));
    assert_int_equal(n, 1);
    assert_int_equal(mkdir(in_folder("step-00000003"), 0777), 0);
    ck_retain_steps(scratch, 1, 0, -1);
    struct stat st;
    assert_int_equal(lstat(in_folder("step-00000001"), &st), -1);
    assert_int_equal(lstat(in_folder("step-00000002.gone-77"), &st), -1);
    assert_int_equal(unlink(in_folder("archive/file")), 0);
    assert_int_equal(rmdir(in_folder("archive")), 0);
}

/* A run finds out that another one has come, and takes the lock again when that one is gone. */
TEST_WITH(a_removed_lock_is_made_anew, begin, end) {
    CkLock lock;
    char who[64] = "";
    assert_int_equal(ck_lock_folder(scratch, 7, &lock, error), 0);
    assert_int_equal(unlink(in_folder("lock")), 0);
    int other = open(in_folder("lock"), O_RDWR | O_CREAT, 0666); /* of a run on a file system .. */
    assert_int_equal(flock(other, LOCK_EX), 0);                  /* .. that locks no folders */
    assert_int_equal(ck_keep_lock(&lock, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, "another run"));
    close(other);
    assert_int_equal(ck_keep_lock(&lock, error), 0);
    int fd = open(in_folder("lock"), O_RDONLY);
    assert_true(read(fd, who, sizeof who - 1) > 0);
    close(fd);
    assert_non_null(strstr(who, "process "));
    ck_unlock(&lock);
}

TEST_WITH(the_next_good_step_is_a_whole_one, begin, end) {
    for (int64_t step = 100; step <= 400; step += 100) {
        CkContents c = state_of(1, 2, paths);
        c.step = step;
        write_state(&c, scratch);
    }
    assert_int_equal(ck_good_before(in_folder("step-00000400")), 300);
    flip(in_folder("step-00000300/rank-00001-of-00002.safetensors"), 4200, 0);
    assert_int_equal(ck_good_before(in_folder("step-00000400")), 200);
    unlink(in_folder("step-00000200/manifest.json"));
    assert_int_equal(ck_good_before(in_folder("step-00000400")), 100);
    assert_int_equal(ck_good_before(in_folder("step-00000100")), -1);
}

RUN_TESTS(scratch_make, scratch_remove)
