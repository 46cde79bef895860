/* Text and token ids by a tokenizer.json. */
#ifndef FSDPC_TOKENIZER_H
#define FSDPC_TOKENIZER_H

#include "util.h"

typedef struct Tokenizer Tokenizer;
int tokenizer_open(Tokenizer **out, const char *path, char *error);
void tokenizer_close(Tokenizer *t);
int64_t tokenizer_ids(const Tokenizer *t); /* all ids are below */
/* What the id stands for: any bytes, none where it is unknown. */
const char *tokenizer_bytes(const Tokenizer *t, int64_t id, size_t *n);
/* ids: room for as many as text has bytes. */
int tokenizer_encode(const Tokenizer *t, const char *text, int32_t *ids, int64_t *n, char *error);

#endif
