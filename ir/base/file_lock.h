/* The lock of an open file among processes. */
#ifndef FSDPC_FILE_LOCK_H
#define FSDPC_FILE_LOCK_H

#include <errno.h>
#include <sys/file.h>

/* FILE_UNLOCKABLE, with errno: the file system has no locks (Lustre without -o flock, folders on
 * NFS), so whether the file is in use is unknown. */
typedef enum FileLock { FILE_LOCKED, FILE_BUSY, FILE_UNLOCKABLE } FileLock;

/* Takes it for one process alone (flock) until the file is closed, without waiting. */
static inline FileLock file_lock(int fd) {
    while (flock(fd, LOCK_EX | LOCK_NB))
        if (errno != EINTR) return errno == EWOULDBLOCK ? FILE_BUSY : FILE_UNLOCKABLE;
    return FILE_LOCKED;
}

#endif
