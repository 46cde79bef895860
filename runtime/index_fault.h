/* The message of a kernel that is to use an integer operand as an index, but finds one out of
 * range: the same on every device. */
#ifndef FSDPC_INDEX_FAULT_H
#define FSDPC_INDEX_FAULT_H

#include <stdint.h>
#include <stdio.h>

#include "device.h"
#include "util.h"

typedef enum IndexFault {
    INDEX_ID,     /* selects a row of an embedding */
    INDEX_TARGET, /* a class, in a loss or a metric */
    INDEX_EXPERT, /* the expert that a token chose */
    INDEX_CHOICE, /* the choice of a row of tokens that are sorted by expert */
    INDEX_ROW,    /* the row of a choice among those */
    INDEX_PLACE   /* an element of a row that topk selected */
} IndexFault;

/* Writes the message about `value` at that place, in the operand of op `op`, which must be below
 * `limit` and not negative; `told`, unless it is NULL, gets the place. Returns the exit code. */
static inline int index_fault_write(char *error, const char *op, IndexFault kind, IndexPlace place,
                                    int64_t value, int64_t limit, IndexPlace *told) {
    if (told) *told = place;
    static const char bug[] =
        "this is a bug: an earlier instruction of the plan computed the index; "
        "FSDP_CHECK=memory may show which";
    static const struct {
        const char *name, *help;
    } rows[] = {
        {"id",
         "the table has no row for it: give it more rows, correct the data, or clamp the ids"},
        {"target", "the data has a class that the model does not predict: give the model's output "
                   "more classes, or correct the data"},
        {"expert id", bug},
        {"choice", bug},
        {"row", bug},
        {"index", bug}};
    snprintf(error, ERROR_BYTES,
             "%s: %s %lld at position %lld is out of range: it must be from 0 to %lld\nhelp: %s",
             op, rows[kind].name, (long long)value, (long long)place.position, (long long)limit - 1,
             rows[kind].help);
    return kind <= INDEX_TARGET ? EXIT_TRAINING : EXIT_CORRUPT;
}

#endif
