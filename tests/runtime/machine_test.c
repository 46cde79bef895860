/* How much memory a process may still use, according to invented files of the system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"
#include "scratch.h"
#include "test.h"

static void put(const char *path, const char *text) {
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", scratch, path);
    for (char *slash = whole + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(whole, 0777);
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST_WITH(unknown_without_files, scratch_make, scratch_remove) {
    assert_int_equal(machine_available_bytes(scratch), 0);
}

TEST_WITH(without_groups_the_machine_counts, scratch_make, scratch_remove) {
    put("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:  3000 kB\nSwapFree:  500 kB\n");
    assert_int_equal(machine_available_bytes(scratch), 3500 * 1024);
}

TEST_WITH(every_group_above_counts, scratch_make, scratch_remove) {
    put("proc/meminfo", "MemAvailable: 3000 kB\n");
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    put("sys/fs/cgroup/a/b/memory.current", "1000\n");
    put("sys/fs/cgroup/a/memory.max", "900000\n");
    put("sys/fs/cgroup/a/memory.current", "500000\n");
    put("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 100\nactive_file 1000\n");
    assert_int_equal(machine_available_bytes(scratch), 900000 - 500000 + 1100);
    put("sys/fs/cgroup/a/b/memory.max", "2000\n");
    assert_int_equal(machine_available_bytes(scratch), 1000);
    put("sys/fs/cgroup/memory.max", "100\n");
    put("sys/fs/cgroup/memory.current", "200\n");
    assert_int_equal(machine_available_bytes(scratch), 1); /* none, which is not unknown */
}

TEST_WITH(version_1_counts_by_its_own_path, scratch_make, scratch_remove) {
    put("proc/meminfo", "MemAvailable: 3000 kB\n");
    put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/a\n0::/y\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "70000\n");
    put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "10000\n");
    put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "7\n");
    put("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "7\n");
    assert_int_equal(machine_available_bytes(scratch), 60000);
}

/* In a container the path may be that of the host. */
TEST_WITH(a_path_that_is_not_there_ends_at_the_root, scratch_make, scratch_remove) {
    put("proc/meminfo", "MemAvailable: 3000 kB\n");
    put("proc/self/cgroup", "0::/docker/4711\n");
    put("sys/fs/cgroup/memory.max", "50000\n");
    put("sys/fs/cgroup/memory.current", "20000\n");
    assert_int_equal(machine_available_bytes(scratch), 30000);
}

TEST_WITH(this_process_runs, scratch_make, scratch_remove) {
    assert_false(machine_stopped((int32_t)getpid()));
    assert_false(machine_stopped(0));
    assert_true(machine_available_bytes("") > 0);
}

RUN_TESTS(NULL, NULL)
