/* The end of a launcher whose run has failed.
 *
 * mpirun asks its daemons on all hosts to end their ranks and waits for their answers: when a host
 * is cut off, it waits as long as TCP does, many minutes, although every rank that it can reach is
 * gone. So a process that ends such a run leaves a child behind, in a session of its own, that
 * kills the launcher if it is still there after PATIENCE seconds. (SIGTERM does not help: at the
 * first one mpirun says that it is already ending, at the second one it may crash.) A daemon that
 * has lost its mpirun is treated in the same way.
 *
 * Between fork and the end the child calls nothing but system calls: other threads of this process
 * may have held any lock.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "world.h"

enum { PATIENCE = 5, MOST_ANCESTORS = 8 };

int launcher_find(void) {
    static const char *const names[] = {"mpirun",  "mpiexec", "orterun", "orted",
                                        "prterun", "prte",    "prted"};
    int32_t pid = getppid();
    MachineProcess p;
    for (int i = 0; i < MOST_ANCESTORS && pid > 1 && machine_process(pid, &p); i++) {
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (!strcmp(p.name, names[k])) return (int)syscall(SYS_pidfd_open, pid, 0);
        pid = p.parent;
    }
    return -1;
}

static void look_after(int launcher) {
    /* The launcher waits until the files it gave its ranks to write to are closed. */
    enum { KEPT = 3 };
    if (launcher != KEPT && dup2(launcher, KEPT) < 0) _exit(0);
    for (int i = 0; i < KEPT; i++) close(i);
    syscall(SYS_close_range, KEPT + 1, ~0u, 0);
    prctl(PR_SET_NAME, "fsdp-parting");
    struct pollfd p = {.fd = KEPT, .events = POLLIN};
    if (poll(&p, 1, PATIENCE * 1000) == 0) syscall(SYS_pidfd_send_signal, KEPT, SIGKILL, NULL, 0);
    _exit(0);
}

void launcher_end_later(int launcher) {
    if (launcher < 0) return;
    pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child) return;
    /* Twice, so that no process waits for it, and away from the process group that mpirun kills. */
    setsid();
    if (fork() == 0) look_after(launcher);
    _exit(0);
}
