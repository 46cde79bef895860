/* A syntax file of Vim (and Neovim). As in the TextMate grammar, the keys and words of a section
 * count only in its braces. */
#include <ctype.h>
#include <string.h>

#include "help.h"

static const struct {
    EditorClass class;
    const char *group, *link, *match; /* match: a pattern around the words; NULL: keywords */
} groups[] = {
    {EDITOR_DECLARATION, "fsdDeclaration", "Structure", NULL},
    {EDITOR_CONTROL, "fsdControl", "Statement", NULL},
    {EDITOR_OPERATOR, "fsdWordOperator", "Operator", NULL},
    {EDITOR_CONSTANT, "fsdConstant", "Boolean", NULL},
    {EDITOR_MODULE, "fsdModule", "Type", NULL},
    {EDITOR_FUNCTION, "fsdFunction", "Function", "\\<\\%%(%s\\)\\ze\\s*("},
    {EDITOR_INITIAL, "fsdInitial", "Function", "\\<\\%%(%s\\)\\>\\%%(\\s*=\\)\\@!"},
    {EDITOR_ATTRIBUTE, "fsdAttribute", "PreProc", "@\\%%(%s\\)\\>"},
};

static const char common_text[] =
    "syntax match fsdOperator \"+=\\|[=!<>]=\\|//\\|\\*\\*\\|[-+*/%<>=^]\"\n"
    "syntax match fsdNumber \"\\<\\d\\+\\%(\\.\\d\\+\\)\\?\\%([eE][-+]\\?\\d\\+\\)\\?"
    "\\%(\\%([kMGT]\\|[KMG]i\\)\\?B\\|[kMGT]\\|[KMG]i\\)\\?\\>\"\n"
    "syntax match fsdParam \"\\<param\\ze\\s*\\[\"\n"
    "syntax match fsdName \"\\%(\\<module\\s\\+\\)\\@<=\\h\\w*\"\n"
    "syntax match fsdType \"\\%(:\\s*\\)\\@<=\\u\\w*\\>\"\n"
    "syntax match fsdComment \"#.*$\" contains=@Spell\n"
    "syntax region fsdString start=+\"+ end=+\"+ oneline\n";

static const char links_text[] = "highlight default link fsdOperator Operator\n"
                                 "highlight default link fsdNumber Number\n"
                                 "highlight default link fsdParam StorageClass\n"
                                 "highlight default link fsdName Typedef\n"
                                 "highlight default link fsdType Type\n"
                                 "highlight default link fsdComment Comment\n"
                                 "highlight default link fsdString String\n"
                                 "highlight default link fsdSection Structure\n"
                                 "highlight default link fsdKey Identifier\n"
                                 "highlight default link fsdCall Function\n"
                                 "highlight default link fsdWord Constant\n";

static void put_group(Arena *a, Buf *out, size_t i) {
    const char *words = editor_words(a, groups[i].class, groups[i].match ? "\\|" : " ");
    if (!groups[i].match) {
        buf_printf(out, "syntax keyword %s %s\n", groups[i].group, words);
        return;
    }
    buf_printf(out, "syntax match %s \"", groups[i].group);
    const char *at = strstr(groups[i].match, "%s");
    for (const char *c = groups[i].match; *c; c++)
        if (c == at)
            buf_printf(out, "%s", words), c++;
        else if (c[0] != '%' || c[1] != '%')
            buf_write(out, c, 1);
    buf_printf(out, "\"\n");
}

static void put_contained(Buf *out, const char *group, const char *section, const char *words,
                          const char *after) {
    if (*words)
        buf_printf(out, "syntax match %s%s \"\\<\\%%(%s\\)\\>%s\" contained\n", group, section,
                   words, after);
}

static void put_section(Arena *a, Buf *out, const char *name) {
    char *title = arena_strdup(a, name);
    title[0] = (char)toupper((unsigned char)title[0]);
    buf_printf(out,
               "\nsyntax region fsdSection%s matchgroup=fsdSection start=\"\\<%s\\s*{\" "
               "end=\"}\" contains=@fsdCommon,fsdBraces,fsdKey%s,fsdCall%s,fsdWord%s\n",
               title, name, title, title, title);
    put_contained(out, "fsdWord", title, editor_values(a, name, "\\|"), "");
    put_contained(out, "fsdCall", title, editor_calls(a, name, "\\|"), "");
    put_contained(out, "fsdKey", title, editor_keys(a, name, "\\|"), "\\ze\\s*=[^=]");
    static const char *const kinds[] = {"Word", "Call", "Key"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        buf_printf(out, "highlight default link fsd%s%s fsd%s\n", kinds[i], title, kinds[i]);
}

void editor_vim(Arena *a, Buf *out) {
    buf_printf(out,
               "\" Vim syntax file: model files of fsdpc (*.fsd), printed by `fsdpc editor vim`\n"
               "if exists(\"b:current_syntax\") | finish | endif\n\n");
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) put_group(a, out, i);
    buf_printf(out, "%s", common_text);
    buf_printf(out, "syntax cluster fsdCommon contains=fsdOperator,fsdNumber,fsdParam,fsdType,"
                    "fsdComment,fsdString");
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) buf_printf(out, ",%s", groups[i].group);
    buf_printf(out, "\nsyntax region fsdBraces start=\"{\" end=\"}\" contained transparent "
                    "contains=@fsdCommon,fsdBraces\n");
    for (int i = 0; i < n_sections; i++) put_section(a, out, section_table[i].name);
    buf_printf(out, "\n");
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        buf_printf(out, "highlight default link %s %s\n", groups[i].group, groups[i].link);
    buf_printf(out, "%s\nlet b:current_syntax = \"fsd\"\n", links_text);
}
