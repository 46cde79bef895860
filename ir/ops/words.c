/* The tables of words.h. */
#include "words.h"

#include <string.h>

#define WORD(constant, word, meaning) word,
#define MEANING(constant, word, meaning) meaning,
#define TABLE(name, count)                                                                         \
    static const char *const text_##name[] = {WORDS_##name(WORD)};                                 \
    static const char *const meaning_##name[] = {WORDS_##name(MEANING)};                           \
    const Words words_##name = {text_##name, meaning_##name, count};
WORD_TABLES(TABLE)

const char *word_of(const Words *w, int64_t value) {
    return value >= 0 && value < w->n ? w->at[value] : "?";
}

int word_find(const Words *w, const char *word) {
    for (int i = 0; i < w->n; i++)
        if (!strcmp(w->at[i], word)) return i;
    return -1;
}
