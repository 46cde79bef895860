/* What the system says about this machine: its memory and its processes. fsdp-run and the transport
 * modules use it; each has its own copy. */
#ifndef FSDPC_MACHINE_H
#define FSDPC_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that this process can still use: what the machine has free or can free, swap, and what is
 * left under every control group that the process is in. 0: unknown. `root`: where the system's
 * files are, "" but in tests. */
uint64_t machine_available_bytes(const char *root);
/* The first bytes of a small file such as those of /proc, ended by 0; returns how many. */
size_t machine_file(const char *path, char *text, size_t size);
typedef struct MachineProcess {
    char name[32], state; /* as in /proc/PID/stat */
    int32_t parent;
} MachineProcess;
bool machine_process(int32_t pid, MachineProcess *out); /* false: there is none */
/* Is the process stopped, by SIGSTOP or a debugger? */
bool machine_stopped(int32_t pid);
bool machine_lives(int32_t pid); /* it is there, and has not ended */

#endif
