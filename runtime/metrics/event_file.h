/* A file of events as TensorBoard reads it: scalars by step and time. */
#ifndef FSDPC_EVENT_FILE_H
#define FSDPC_EVENT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EVENT_BYTES = 16 << 10 };

typedef struct EventFile {
    FILE *file; /* NULL: none is open */
    char path[PATH_MAX];
    size_t n;  /* bytes of the event's summary */
    bool full; /* it has no room for all */
    uint8_t summary[EVENT_BYTES];
    uint8_t record[EVENT_BYTES + 64];
    char buffer[2 * EVENT_BYTES];
} EventFile;

double wall_time(void); /* seconds since 1970 */
/* Makes the folder, with those above it, and a new file in it, whose curves begin at a step; -1: it
 * adds to those that are there. */
int event_file_open(EventFile *e, const char *folder, int64_t step, char *error);
void event_file_close(EventFile *e);
/* An event is begun, takes its scalars, and is written. The tag is group/name. */
void event_begin(EventFile *e);
void event_scalar(EventFile *e, const char *group, const char *name, double value);
int event_write(EventFile *e, int64_t step, char *error);

#endif
