/* Files that are read through a mapping: opened once, checked to be files, and watched for getting
 * shorter while they are in use. */
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
    dev_t device; /* and inode: which file it is, whatever the path names later */
    ino_t inode;
} MappedFile;
/* kind: "", "data file ", .. in the message of a file that cannot be opened (EXIT_ENVIRONMENT). */
int mapped_open(MappedFile *f, const char *path, const char *kind, char *error);
void mapped_close(MappedFile *f);
/* Only parts of it will be read: the system is not to read on beyond what is asked for. */
void mapped_in_parts(const MappedFile *f);
/* These bytes of a mapping will be read soon: the system may begin. */
void mapped_expect(const uint8_t *from, uint64_t bytes);
/* They were read: they need not stay in this process. */
void mapped_release(const uint8_t *from, uint64_t bytes);
/* Is the file that was opened shorter now? What it has lost may have been read as zeros. */
bool mapped_shorter(const MappedFile *f);
/* The message of a file that was not read to its end: EXIT_CORRUPT. */
int mapped_lost(const MappedFile *f, char *error);
void mapped_watch(void);
/* `read` may only read memory and write to its operand. False when a mapped file has got shorter or
 * cannot be read: some of what it did is missing. */
bool mapped_read(void (*read)(void *), void *user);

#endif
