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

/* The number after `key` and a blank or colon in a file of such lines; "": that the file begins
 * with. False: there is none, as where the word `max` means no limit. */
static bool read_number(const char *folder, const char *name, const char *key, uint64_t *out) {
    char path[PATH_BYTES + 64], text[16384];
    size_t n = strlen(key);
    unsigned long long x;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    machine_file(path, text, sizeof text);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) || (n && line[n] != ' ' && line[n] != ':')) continue;
        if (sscanf(line + n + (n > 0), "%llu", &x) != 1) return false;
        *out = x;
        return true;
    }
    return false;
}

typedef struct GroupTree {
    const char *mount, *limit, *used;
} GroupTree;

/* Least of `room` and what the group at this folder has left. */
static uint64_t room_of_group(const GroupTree *t, const char *folder, uint64_t room) {
    uint64_t most, used, idle = 0, active = 0;
    if (!read_number(folder, t->limit, "", &most) || !read_number(folder, t->used, "", &used))
        return room;
    read_number(folder, "memory.stat", "inactive_file", &idle);
    read_number(folder, "memory.stat", "active_file", &active);
    used -= idle + active < used ? idle + active : used;
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
    uint64_t memory = 0, swap = 0;
    read_number(root, "proc/meminfo", "MemAvailable", &memory);
    read_number(root, "proc/meminfo", "SwapFree", &swap);
    uint64_t room = memory + swap ? (memory + swap) * 1024 : UINT64_MAX;
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
