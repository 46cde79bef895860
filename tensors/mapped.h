/* Files that are read through a mapping: opened once, checked to be regular files, and watched for
 * truncation while in use. */
#ifndef FSDPC_MAPPED_H
#define FSDPC_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct MappedFile {
    const char *path;
    const uint8_t *bytes; /* NULL when it is empty */
    size_t size;
    dev_t device; /* with inode: identifies the file, whatever the path names later */
    ino_t inode;
} MappedFile;
/* kind: "", "data file ", ..; used in the message if the file cannot be opened
 * (EXIT_ENVIRONMENT). */
int mapped_open(MappedFile *f, const char *path, const char *kind, char *error);
void mapped_close(MappedFile *f);
/* Only parts of it will be read: turns off read-ahead. */
void mapped_in_parts(const MappedFile *f);
/* These bytes of a mapping will be read soon: the system may begin to read them. */
void mapped_expect(const uint8_t *from, uint64_t bytes);
/* They were read and need not stay in this process's memory. */
void mapped_release(const uint8_t *from, uint64_t bytes);
/* Whether the opened file is shorter now: missing bytes may have been read as zeros. */
bool mapped_shorter(const MappedFile *f);
/* Writes the message for a file that could not be read to its end: EXIT_CORRUPT. */
int mapped_lost(const MappedFile *f, char *error);
void mapped_watch(void);
/* `read` may only read memory and write to its operand. Returns false if a mapped file was
 * truncated or cannot be read: the results of `read` are then incomplete. */
bool mapped_read(void (*read)(void *), void *user);

#endif
