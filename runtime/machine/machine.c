/* Memory: /proc/meminfo, and the limits of control groups. A limit holds for a group and all below
 * it, so each group from the process's own up to the root is asked. Version 2 has one tree, named
 * "0::/path" in /proc/self/cgroup; version 1 has one a controller, "4:memory:/path". In a container
 * the path may be the one outside of it, while the tree inside begins at the container's own group:
 * missing folders are skipped, and the root of the tree is always read.
 *
 * The pages of files that a group has used are not counted against it: the kernel takes them back.
 */
#include "machine.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* The number after `key` and a blank in a file of such lines, in bytes; 0 when it is not there. */
static uint64_t number_after(const char *path, const char *key) {
    char line[256];
    size_t n = strlen(key);
    unsigned long long x = 0;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, n) && (line[n] == ' ' || line[n] == ':') &&
            sscanf(line + n + 1, "%llu", &x) == 1)
            break;
        else
            x = 0;
    if (f) fclose(f);
    return x;
}

/* False: no such file, or the word `max`, which means no limit. */
static bool read_number(const char *folder, const char *name, uint64_t *out) {
    char path[PATH_BYTES + 64];
    unsigned long long n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    bool good = f && fscanf(f, "%llu", &n) == 1;
    if (f) fclose(f);
    if (good) *out = n;
    return good;
}

typedef struct GroupTree {
    const char *mount, *limit, *used;
} GroupTree;

/* Least of `room` and what the group at this folder has left. */
static uint64_t room_of_group(const GroupTree *t, const char *folder, uint64_t room) {
    char path[PATH_BYTES + 64];
    uint64_t most, used;
    if (!read_number(folder, t->limit, &most) || !read_number(folder, t->used, &used)) return room;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    uint64_t files = number_after(path, "inactive_file") + number_after(path, "active_file");
    used -= files < used ? files : used;
    uint64_t left = used < most ? most - used : 0;
    return left < room ? left : room;
}

/* From the group at `path` up to the root of the tree. */
static uint64_t room_of_groups(const GroupTree *t, const char *root, const char *path,
                               uint64_t room) {
    char folder[PATH_BYTES];
    int n = snprintf(folder, sizeof folder, "%s%s", root, t->mount);
    size_t top = (size_t)n;
    if (n < 0 || top + strlen(path) >= sizeof folder) return room;
    strcpy(folder + top, path);
    for (;;) {
        room = room_of_group(t, folder, room);
        char *slash = strrchr(folder + top, '/');
        if (!slash) return room;
        *slash = 0;
    }
}

uint64_t machine_available_bytes(const char *root) {
    static const GroupTree one = {"/sys/fs/cgroup", "memory.max", "memory.current"};
    static const GroupTree many = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                   "memory.usage_in_bytes"};
    char path[PATH_BYTES], line[PATH_BYTES];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    uint64_t sum = (number_after(path, "MemAvailable") + number_after(path, "SwapFree")) * 1024;
    uint64_t room = sum ? sum : UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers;
        if (group) group = strchr(controllers + 1, ':');
        if (!group) continue;
        *group++ = 0;
        bool memory = !strcmp(controllers, ":memory") || strstr(controllers, ",memory") ||
                      strstr(controllers, ":memory,");
        if (!controllers[1]) room = room_of_groups(&one, root, group, room);
        if (memory) room = room_of_groups(&many, root, group, room);
    }
    if (f) fclose(f);
    return room == UINT64_MAX ? 0 : room ? room : 1;
}

size_t machine_file(const char *path, char *text, size_t size) {
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return n;
}

bool machine_process(int32_t pid, MachineProcess *out) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    machine_file(path, line, sizeof line);
    const char *open = strchr(line, '('), *close = strrchr(line, ')');
    if (!open || !close || sscanf(close + 1, " %c %d", &out->state, &out->parent) != 2)
        return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

bool machine_stopped(int32_t pid) {
    MachineProcess p;
    return machine_process(pid, &p) && (p.state == 'T' || p.state == 't');
}

bool machine_lives(int32_t pid) {
    MachineProcess p;
    return machine_process(pid, &p) && p.state != 'Z' && p.state != 'X';
}
