/* Diagnostics: errors, warnings and notes with a place in a source file.
 *
 *   Diag d = diag_at(ds, E_shape, span, "`as` cannot make [B, T] from [B, T, D]");
 *   diag_note(&d, other_span, "D is declared here");
 *   diag_help(&d, "...");
 *   diag_emit(&d);
 *
 * or, where nothing but help is added, diag_report(ds, E_shape, span, help, "..").
 *
 * Rendering is that of rustc: `error[E0204]: message`, ` --> file:line:col`, the source line, a
 * caret run under the whole span, notes with their own places, `= help:`. Every code is a row of
 * diag_codes.def, which says its severity, the exit code and what `fsdpc explain` prints.
 */
#ifndef FSDPC_DIAG_H
#define FSDPC_DIAG_H

#include "util.h"

/* A range of source text. file is an index into the set's file table; 0 = no place. Lines and
 * columns count from 1, columns in bytes; end_col is one past the last byte. */
typedef struct Span {
    uint32_t file, line, col, end_line, end_col;
} Span;

typedef struct SourceFile {
    const char *name; /* as the user wrote it: for messages */
    const char *base; /* without directories: for plans */
    const char *text; /* NUL-terminated contents; NULL = not available, no lines are shown */
    size_t size;
    uint64_t hash;
} SourceFile;

typedef enum DiagFormat { DIAG_TEXT, DIAG_JSON } DiagFormat;
typedef enum DiagSeverity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagSeverity;

typedef enum DiagCode {
#define DIAG(code, id, severity, exit, title, text) id,
#include "diag_codes.def"
#undef DIAG
    DIAG_COUNT
} DiagCode;

/* A row of diag_codes.def. */
typedef struct DiagInfo {
    const char *code; /* as it is printed: E0204 */
    DiagSeverity severity;
    int exit_code;    /* EXIT_* of a program that ends because of it */
    const char *name; /* for -W, NULL of errors */
    const char *title, *text;
} DiagInfo;

extern const DiagInfo diag_info[DIAG_COUNT];

/* A rendered message that waits, and its place. */
typedef struct HeldDiag {
    Span at;
    uint32_t order;
    const char *text;
} HeldDiag;

typedef struct DiagSet {
    Arena *arena;
    VEC(SourceFile) files; /* [0] is the empty "no place" file */
    DiagFormat format;
    bool color;
    bool quiet;                /* only errors are written */
    bool silent[DIAG_COUNT];   /* -W no-NAME */
    bool as_error[DIAG_COUNT]; /* -W error=NAME */
    bool all_as_errors;        /* -W error: every warning, not notes */
    int errors, warnings;
    int raised;                       /* of the errors those that are warnings by nature */
    bool ends_with[EXIT_CORRUPT + 1]; /* an error with this exit code was reported */
    bool holding;                     /* messages wait in `held` for diag_release */
    VEC(HeldDiag) held;
    /* Where rendered text goes; default writes to stderr. */
    void (*write)(void *context, const char *text, size_t n);
    void *write_context;
} DiagSet;

typedef struct DiagNote {
    Span span;
    const char *text;
} DiagNote;

typedef struct Diag {
    DiagSet *set;
    DiagCode code;
    const char *message, *help;
    Span span;
    DiagNote notes[8];
    int n_notes; /* may exceed the array: the rest is only counted, and the text says so */
} Diag;

/* diag.c. The text of a message ends at diag_emit at the earliest: it lives in the arena. */
void diag_init(DiagSet *ds, Arena *a);
/* A set of its own with the files and the choices of another one, which must outlive it: places in
 * its files are places in the other's. */
void diag_fork(DiagSet *ds, const DiagSet *from, Arena *a);
/* Messages go to the end of the buffer. */
void diag_capture(DiagSet *ds, Buf *out);
/* text is not copied and must outlive the set. The result is the index for Span.file. */
uint32_t diag_add_file(DiagSet *ds, const char *name, const char *text, size_t size);
Diag diag_at(DiagSet *ds, DiagCode code, Span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
Diag diag_vat(DiagSet *ds, DiagCode code, Span at, const char *format, va_list args);
/* Reports a message with help, which is not a format string (NULL: none); always false. */
bool diag_report(DiagSet *ds, DiagCode code, Span at, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Appends to the message. */
void diag_more(Diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_note(Diag *d, Span at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_help(Diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_emit(Diag *d); /* renders now and counts */
/* For environment_failure: prints an object without a code and a place. */
void diag_failure_as_json(const char *text);
/* Between these messages wait. They are then written in the order of their places, those without a
 * place last, and equal ones once. */
void diag_hold(DiagSet *ds);
void diag_release(DiagSet *ds);
/* -W: `no-NAME`, `NAME`, `error`, `error=NAME`, where NAME is that of a warning or its code. false:
 * there is no such warning. */
bool diag_choose(DiagSet *ds, const char *choice);
/* How the program ends after what was reported: the user's own mistakes come first, then input that
 * is not what it claims to be, then what the machine or this version lacks. EXIT_DONE: no errors.
 */
int diag_exit_code(const DiagSet *ds);
const DiagInfo *diag_find(const char *code); /* "E0204"; NULL when there is no such code */

/* diag_text.c: the text form of one diagnostic, followed by a blank line. */
void diag_render_text(const Diag *d, DiagSeverity severity, Buf *out);
/* Appends text as well-formed UTF-8 that cannot steer a terminal: bad bytes, control characters
 * (tab and newline stay) and direction overrides become U+FFFD. */
void diag_clean(Buf *out, const char *text, size_t n);

#endif
