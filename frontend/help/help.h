/* What describes the language to people and to editors.
 *
 * The pages of `fsdpc help` and of docs/reference.md are one book, made of the tables of the
 * vocabulary and printed as text or as Markdown; nothing that can be written in a model file or on
 * a command line is described anywhere else. The words in the syntax files of editors/ come from
 * the same tables.
 */
#ifndef FSDPC_HELP_H
#define FSDPC_HELP_H

#include "vocabulary.h"

/* Where the example of a page stands; the tests run each one there. */
typedef enum ExampleKind {
    EXAMPLE_NONE,
    EXAMPLE_TOP,       /* in a file, beside other blocks */
    EXAMPLE_CONFIG,    /* in config */
    EXAMPLE_MEMBER,    /* in a module */
    EXAMPLE_STATEMENT, /* in a method */
    EXAMPLE_DATA,      /* in these sections */
    EXAMPLE_TRAIN,
    EXAMPLE_SHARD,
    EXAMPLE_CHECKPOINT,
    EXAMPLE_SHELL /* commands that end with exit code 0 */
} ExampleKind;

typedef struct HelpRow {
    const char *name, *type, *default_text, *doc; /* type and default_text may be NULL */
} HelpRow;

typedef struct HelpPage {
    const char *name;         /* "attention", "train.clip", "--mesh" */
    const char *alias;        /* "clip", "-s"; or NULL */
    const char *kind;         /* "function of tensors" */
    const char *form;         /* how it is written, or NULL */
    const char *doc;          /* one line */
    const char *more;         /* lines of text, or NULL */
    const char *default_text; /* a default, for the list of a chapter; or NULL */
    const char *list;         /* what the rows are: "arguments" */
    VEC(HelpRow) rows;
    const char *example; /* lines, or NULL */
    ExampleKind where;
} HelpPage;

typedef struct HelpChapter {
    const char *name, *doc; /* name is a topic too */
    VEC(HelpPage) pages;
} HelpChapter;

typedef struct HelpBook {
    Arena *arena;
    VEC(HelpChapter) chapters;
} HelpBook;

/* help.c */
HelpChapter *help_chapter(HelpBook *b, const char *name, const char *doc);
void help_page(HelpBook *b, HelpChapter *c, HelpPage page);
/* The chapters with the names of their pages. */
void help_contents(const HelpBook *b, Buf *out);
/* The pages of a topic: a chapter, pages of that name, or pages with a row of that name. false:
 * there is none. */
bool help_topic(const HelpBook *b, const char *topic, Buf *out);
/* What to do about a topic that does not exist; for a word of another system, what to write
 * instead. */
const char *help_remedy(const HelpBook *b, const char *topic);
void help_markdown(const HelpBook *b, Buf *out);

/* help_language.c: the chapters about the model file. */
void help_language(HelpBook *b);

/* editors.c: the words of the language by kind and section, as JSON. */
void help_words(Arena *a, Buf *out);

#endif
