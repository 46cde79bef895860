/* Trains plans with fsdp-run in the current folder, and compares what they trained. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mutate.h"

void put_file(const char *name, const void *bytes, size_t size) {
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
        fail_environment("cannot write %s", name);
}

int run_plan(const char *fsdp_run, const char *name) {
    char line[1024];
    snprintf(line, sizeof line,
             "rm -f %s.log %s.safetensors; timeout 60 %s -q --threads 1 --steps 2 --log %s.jsonl "
             "--save %s.safetensors %s.bin >/dev/null 2>%s.err; c=$?; "
             "grep -E '\"event\":\"(step|eval)' %s.jsonl 2>/dev/null | "
             "sed -E 's/\"(step_ms|seconds|time)\".*//' >%s.log; rm -f %s.jsonl; exit $c",
             name, name, fsdp_run, name, name, name, name, name, name, name);
    return system(line);
}

bool run_trains_alike(void) {
    return !system("cmp -s good.log changed.log && cmp -s good.safetensors changed.safetensors");
}

void run_data(void) {
    static int32_t header[256] = {20240520, 1, 4096};
    static uint16_t token[4096];
    static char text[4096];
    Random r = {.state = 7};
    for (size_t i = 0; i < ARRAY_LEN(token); i++) token[i] = (uint16_t)random_below(&r, 37);
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)random_below(&r, 12);
    char shard[sizeof header + sizeof token];
    memcpy(shard, header, sizeof header);
    memcpy(shard + sizeof header, token, sizeof token);
    if (mkdir("data", 0777) && errno != EEXIST) fail_environment("cannot make data/");
    put_file("data/fineweb_train_0.bin", shard, sizeof shard);
    put_file("data/fineweb_val_0.bin", shard, sizeof shard);
    put_file("train.txt", text, sizeof text);
    put_file("val.txt", text, sizeof text);
}
