/* Syntax files for editors, printed from the vocabulary: `fsdpc editor NAME`, kept in editors/. */
#ifndef FSDPC_EDITORS_H
#define FSDPC_EDITORS_H

#include "vocabulary.h"

/* Kinds of words that an editor colours differently. */
typedef enum EditorClass {
    EDITOR_DECLARATION, /* module, tie .. */
    EDITOR_CONTROL,     /* for, return .. */
    EDITOR_OPERATOR,    /* as, and .. */
    EDITOR_CONSTANT,    /* true, none .. */
    EDITOR_FUNCTION,    /* of tensors and of constants */
    EDITOR_INITIAL,     /* zeros .. */
    EDITOR_MODULE,      /* of the prelude */
    EDITOR_ATTRIBUTE,   /* without @ */
    EDITOR_CLASSES
} EditorClass;

/* editors.c: words in the order of the tables, each once, the separator between them. */
const char *editor_words(Arena *a, EditorClass class, const char *separator);
const char *editor_keys(Arena *a, const char *section, const char *separator);
/* What values of the section's keys are called: optimizers, schedules, sources .. */
const char *editor_calls(Arena *a, const char *section, const char *separator);
/* Words that keys of the section take. */
const char *editor_values(Arena *a, const char *section, const char *separator);
/* Words that the argument takes; NULL: it takes none. */
const char *editor_argument_words(Arena *a, const ArgumentInfo *argument, const char *separator);

/* editors_textmate.c, editors_vim.c: a whole file. */
void editor_textmate(Arena *a, Buf *out);
void editor_vim(Arena *a, Buf *out);

#endif
