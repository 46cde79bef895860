/* A book of help pages: chapters and pages are added, topics are looked up, and pages are printed
 * as text or as Markdown.
 *
 * In: pages, which help_language.c and the driver make from tables. Out: a table of contents, the
 * pages of one topic, or the whole book. Text is wrapped at 100 columns; examples are kept as they
 * are.
 */
#include "help.h"

#include <stdio.h>
#include <string.h>

HelpChapter *help_chapter(HelpBook *b, const char *name, const char *doc) {
    HelpChapter c = {.name = name, .doc = doc};
    vec_push(b->arena, &b->chapters, c);
    return &b->chapters.at[b->chapters.n - 1];
}

void help_page(HelpBook *b, HelpChapter *c, HelpPage page) { vec_push(b->arena, &c->pages, page); }

enum { MOST_NAMES = 60 }; /* of a chapter in the table of contents */

/* ---- text ---- */

/* Text in lines of at most 100 columns after an indent; its own line ends are kept. `column` is
 * where the first word goes on a line that has begun, 0 at the start of a line. */
static void put_words(Buf *out, const char *text, size_t indent, size_t column) {
    bool first = column > 0;
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (column && !first && column + 1 + n > 100) column = 0, buf_printf(out, "\n");
        if (!column)
            buf_printf(out, "%*s", (int)indent, ""), column = indent;
        else if (!first)
            buf_printf(out, " "), column++;
        first = false;
        buf_write(out, text, n);
        column += n;
        text += n;
        if (*text == '\n') column = 0, buf_printf(out, "\n");
        text += *text != 0;
    }
    if (column) buf_printf(out, "\n");
}

/* Lines as they are, each behind the indent. */
static void put_lines(Buf *out, const char *text, const char *indent) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        buf_printf(out, "%s%.*s\n", n ? indent : "", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void put_columns(Buf *out, size_t left, size_t width, const char *name, const char *doc) {
    size_t n = strlen(name), column = left + width;
    bool fits = n + 2 <= width;
    buf_printf(out, "%*s%s", (int)left, "", name);
    buf_printf(out, "%s%*s", fits ? "" : "\n", (int)(fits ? width - n : column), "");
    put_words(out, doc, column, column);
}

static void put_row(Buf *out, const HelpRow *r) {
    char head[160];
    snprintf(head, sizeof head, "%s%s%s%s%s", r->name, r->type ? ": " : "", r->type ? r->type : "",
             r->default_text ? " = " : "", r->default_text ? r->default_text : "");
    put_columns(out, 4, 32, head, r->doc);
}

static void put_page(Buf *out, const HelpPage *p) {
    buf_printf(out, "%s (%s)\n", p->name, p->kind);
    if (p->form) buf_printf(out, "\n"), put_lines(out, p->form, "    ");
    buf_printf(out, "\n");
    put_words(out, p->doc, 2, 0);
    if (p->more) buf_printf(out, "\n"), put_lines(out, p->more, "  ");
    if (p->rows.n) buf_printf(out, "\n  %s\n", p->list);
    for (uint32_t i = 0; i < p->rows.n; i++) put_row(out, &p->rows.at[i]);
    if (p->example) buf_printf(out, "\n  example\n"), put_lines(out, p->example, "    ");
}

static void put_chapter(const HelpBook *b, Buf *out, const HelpChapter *c) {
    buf_printf(out, "%s: %s\n\n", c->name, c->doc);
    for (uint32_t i = 0; i < c->pages.n; i++) {
        const HelpPage *p = &c->pages.at[i];
        const char *doc = p->doc;
        if (p->default_text) doc = arena_printf(b->arena, "%s [%s]", doc, p->default_text);
        put_columns(out, 2, 22, p->name, doc);
    }
}

void help_contents(const HelpBook *b, Buf *out) {
    buf_printf(out, "fsdpc help TOPIC, where TOPIC is a chapter or anything in it:\n");
    for (uint32_t i = 0; i < b->chapters.n; i++) {
        const HelpChapter *c = &b->chapters.at[i];
        size_t column = 0;
        buf_printf(out, "\n%s: %s\n", c->name, c->doc);
        if (c->pages.n > MOST_NAMES) {
            buf_printf(out, "    %s .. %s\n", c->pages.at[0].name,
                       c->pages.at[c->pages.n - 1].name);
            continue;
        }
        for (uint32_t k = 0; k < c->pages.n; k++) {
            size_t n = strlen(c->pages.at[k].name);
            if (column + n + 2 > 96) column = 0, buf_printf(out, "\n");
            buf_printf(out, "%s%s", column ? "  " : "    ", c->pages.at[k].name);
            column += n + (column ? 2 : 4);
        }
        buf_printf(out, "\n");
    }
    buf_printf(out, "\nfsdpc help reference prints all of it as Markdown.\n");
}

/* ---- topics ---- */

static bool is_page(const HelpPage *p, const char *topic) {
    return !strcmp(p->name, topic) || (p->alias && !strcmp(p->alias, topic));
}

static bool has_row(const HelpPage *p, const char *topic) {
    for (uint32_t i = 0; i < p->rows.n; i++)
        if (!strcmp(p->rows.at[i].name, topic)) return true;
    return false;
}

static bool put_pages(const HelpBook *b, const char *topic,
                      bool (*matches)(const HelpPage *, const char *), Buf *out) {
    bool found = false;
    for (uint32_t i = 0; i < b->chapters.n; i++)
        for (uint32_t k = 0; k < b->chapters.at[i].pages.n; k++) {
            const HelpPage *p = &b->chapters.at[i].pages.at[k];
            if (!matches(p, topic)) continue;
            if (found) buf_printf(out, "\n");
            put_page(out, p);
            found = true;
        }
    return found;
}

bool help_topic(const HelpBook *b, const char *topic, Buf *out) {
    bool found = false;
    for (uint32_t i = 0; i < b->chapters.n; i++) {
        if (strcmp(b->chapters.at[i].name, topic)) continue;
        put_chapter(b, out, &b->chapters.at[i]);
        found = true;
    }
    if (found) return true;
    return put_pages(b, topic, is_page, out) || put_pages(b, topic, has_row, out);
}

const char *help_remedy(const HelpBook *b, const char *topic) {
    VEC(const char *) names = {0};
    if (name_hint(topic)) return name_hint(topic);
    for (uint32_t i = 0; i < b->chapters.n; i++) {
        const HelpChapter *c = &b->chapters.at[i];
        vec_push(b->arena, &names, c->name);
        for (uint32_t k = 0; k < c->pages.n; k++) {
            vec_push(b->arena, &names, c->pages.at[k].name);
            if (c->pages.at[k].alias) vec_push(b->arena, &names, c->pages.at[k].alias);
        }
    }
    return nearest_help(b->arena, topic, names.at, names.n, "`fsdpc help` lists all topics");
}

/* ---- Markdown ---- */

/* Text with all characters that Markdown would interpret escaped. */
static void put_plain(Buf *out, const char *text) {
    for (const char *c = text; *c; c++) {
        if (strchr("|<*_[", *c)) buf_write(out, "\\", 1);
        buf_write(out, c, 1);
    }
}

static void put_cell(Buf *out, const char *text, bool code) {
    buf_printf(out, " ");
    if (text && code)
        buf_printf(out, "`%s`", text);
    else
        put_plain(out, text ? text : "");
    buf_printf(out, " |");
}

static void put_table(Buf *out, const HelpPage *p) {
    bool types = false;
    for (uint32_t i = 0; i < p->rows.n; i++)
        types |= p->rows.at[i].type || p->rows.at[i].default_text;
    buf_printf(out,
               types ? "| %s | type | default | meaning |\n|---|---|---|---|\n"
                     : "| %s | meaning |\n|---|---|\n",
               p->list);
    for (uint32_t i = 0; i < p->rows.n; i++) {
        const HelpRow *r = &p->rows.at[i];
        buf_printf(out, "|");
        put_cell(out, r->name, true);
        if (types) put_cell(out, r->type, false), put_cell(out, r->default_text, true);
        put_cell(out, r->doc, false);
        buf_printf(out, "\n");
    }
    buf_printf(out, "\n");
}

/* Lines of text, and indented lines, which are code. */
static void put_markdown_text(Buf *out, const char *text) {
    bool code = false;
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool indented = !strncmp(text, "    ", 4);
        if (n && indented != code) buf_printf(out, "%s", indented ? "\n```\n" : "```\n\n");
        if (n) code = indented;
        buf_printf(out, "%.*s\n", (int)(n - (indented ? 4 : 0)), text + (indented ? 4 : 0));
        text += n + (text[n] == '\n');
    }
    buf_printf(out, "%s\n", code ? "```\n" : "");
}

static void put_markdown_page(Buf *out, const HelpPage *p) {
    buf_printf(out, "### %s\n\n", p->name);
    if (p->form) buf_printf(out, "```\n%s\n```\n\n", p->form);
    put_plain(out, p->doc);
    buf_printf(out, "\n\n");
    if (p->more) put_markdown_text(out, p->more);
    if (p->rows.n) put_table(out, p);
    if (p->example)
        buf_printf(out, "```%s\n%s\n```\n\n", p->where == EXAMPLE_SHELL ? "sh" : "fsd", p->example);
}

/* The anchor of a heading is its name, with `-` for each space. */
static void put_markdown_link(Buf *out, const HelpChapter *c) {
    buf_printf(out, "- [%s](#", c->name);
    for (const char *at = c->name; *at; at++) buf_printf(out, "%c", *at == ' ' ? '-' : *at);
    buf_printf(out, "): %s\n", c->doc);
}

void help_markdown(const HelpBook *b, Buf *out) {
    buf_printf(out,
               "# Reference\n\n"
               "The language of model files and the options of fsdpc and fsdp-run. This page is "
               "what\n`fsdpc help reference` prints; a test keeps it so. `fsdpc help TOPIC` prints "
               "any part of it.\n\n");
    for (uint32_t i = 0; i < b->chapters.n; i++) put_markdown_link(out, &b->chapters.at[i]);
    for (uint32_t i = 0; i < b->chapters.n; i++) {
        const HelpChapter *c = &b->chapters.at[i];
        buf_printf(out, "\n## %s\n\n%s.\n\n", c->name, c->doc);
        for (uint32_t k = 0; k < c->pages.n; k++) put_markdown_page(out, &c->pages.at[k]);
        out->n--; /* one blank line between chapters */
    }
}
