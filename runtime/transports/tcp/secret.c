/* A secret that all ranks of a run may share: FSDP_SECRET, or the text of FSDP_SECRET_FILE. With
 * it who connects and who listens prove to each other that they know it, before either believes
 * anything: each gives a random number, and both hash the greeting and the numbers under the
 * secret (HMAC with SHA-256, RFC 2104), each with another first byte, so that neither can send the
 * other's answer back.
 *
 *   connects                      listens
 *   HELLO: who I am, number   ->
 *                             <-  CHALLENGE: number, proof
 *   PROOF                     ->
 *                             <-  NOTED
 *
 * What it does not do: messages that follow are neither encrypted nor signed, so it keeps out
 * strangers who can connect, not those who can change what others send.
 *
 * OpenSSL's libcrypto computes the hash. It is loaded where a secret is given, so that a machine
 * without it builds and runs everything else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "link.h"

enum { LEAST_SECRET = 16 };
#define VARIABLE "FSDP_SECRET"
#define FILE_VARIABLE "FSDP_SECRET_FILE"

typedef const void *(*Sha256)(void); /* EVP_sha256 */
typedef unsigned char *(*Hmac)(const void *hash, const void *key, int key_bytes,
                               const unsigned char *text, size_t bytes, unsigned char *out,
                               unsigned int *out_bytes); /* HMAC */

/* A symbol as a function; ISO C has no cast for that. */
static bool find_function(void *library, const char *name, void *function, size_t size) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
    return symbol != NULL;
}

static Sha256 sha256;
static Hmac hmac;

static int load_library(char *error) {
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};
    void *library = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library && find_function(library, "EVP_sha256", &sha256, sizeof sha256) &&
        find_function(library, "HMAC", &hmac, sizeof hmac))
        return 0;
    return fail_with(error, EXIT_ENVIRONMENT,
                     VARIABLE ": cannot load OpenSSL's libcrypto, which proves the secret: %.200s\n"
                              "help: install it (Debian: libssl3); without " VARIABLE
                              " no rank proves who it is",
                     dlerror());
}

static int read_secret_file(const char *path, Secret *out, char *error) {
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out->key, 1, sizeof out->key, f) : 0;
    bool failed = !f || ferror(f);
    if (failed)
        snprintf(error, ERROR_BYTES,
                 FILE_VARIABLE "=%.300s: cannot read it: %s\n"
                               "help: every rank reads a copy on its own machine",
                 path, strerror(errno));
    if (f) fclose(f);
    while (n > 0 && strchr("\r\n", out->key[n - 1])) n--;
    out->bytes = (int)n;
    return failed ? EXIT_ENVIRONMENT : 0;
}

int secret_open(Secret *out, char *error) {
    const char *text = getenv(VARIABLE), *path = getenv(FILE_VARIABLE);
    if (!text && !path) return 0;
    int code = 0;
    if (text && path)
        return fail_with(error, EXIT_USER,
                         VARIABLE " and " FILE_VARIABLE
                                  " are both set\nhelp: set one of them, the same "
                                  "secret for all ranks");
    if (path)
        code = read_secret_file(path, out, error);
    else
        memcpy(out->key, text, (size_t)(out->bytes = (int)MIN(strlen(text), sizeof out->key)));
    if (code) return code;
    if (out->bytes < LEAST_SECRET || out->bytes == (int)sizeof out->key)
        return fail_with(error, EXIT_USER,
                         "%s: a secret must have %d to %d bytes, this one has %s\n"
                         "help: openssl rand -hex 32 makes one",
                         text ? VARIABLE : FILE_VARIABLE, LEAST_SECRET, (int)sizeof out->key - 1,
                         out->bytes < LEAST_SECRET ? "fewer" : "more");
    return load_library(error);
}

void secret_number(unsigned char out[SECRET_NUMBER]) {
    if (getrandom(out, SECRET_NUMBER, 0) != SECRET_NUMBER)
        abort(); /* never after the machine has booted */
}

static bool compute_proof(const World *w, unsigned char role, const Hello *h, const Challenge *c,
                          unsigned char out[SECRET_NUMBER]) {
    unsigned char text[1 + sizeof *h + SECRET_NUMBER];
    unsigned int n = 0;
    text[0] = role;
    memcpy(text + 1, h, sizeof *h);
    memcpy(text + 1 + sizeof *h, c->number, SECRET_NUMBER);
    return hmac(sha256(), w->secret.key, w->secret.bytes, text, sizeof text, out, &n) &&
           n == SECRET_NUMBER;
}

/* In a time that does not depend on where they differ. */
static bool same_bytes(const unsigned char *a, const unsigned char *b) {
    unsigned char differ = 0;
    for (int i = 0; i < SECRET_NUMBER; i++) differ |= a[i] ^ b[i];
    return !differ;
}

enum { LISTENS = 'L', CONNECTS = 'C' };

int secret_hear(World *w, Link *l, const Message *m, Hello *out, char *why) {
    Stranger *s = &w->stranger[l - w->stranger_link];
    *why = 0;
    if (m->kind == HELLO && m->bytes == sizeof *out && !s->asked) {
        memcpy(out, m->at, sizeof *out);
        text_receive(out->host, sizeof out->host);
        if (!w->secret.bytes && !out->secret) return 1;
        if (!w->secret.bytes || !out->secret) {
            snprintf(why, ERROR_BYTES,
                     "rank %d has %s " VARIABLE ", and rank %d has %s\n"
                     "help: set the same " VARIABLE " or " FILE_VARIABLE " for all ranks",
                     out->rank, out->secret ? "an" : "no", w->rank, out->secret ? "none" : "one");
            return -1;
        }
        Challenge c;
        memcpy(&s->hello, m->at, sizeof s->hello);
        s->asked = true;
        secret_number(c.number);
        if (!compute_proof(w, LISTENS, &s->hello, &c, c.proof)) return -1;
        s->challenge = c;
        link_send(l, CHALLENGE, &c, sizeof c, NULL, 0);
        link_flush(l);
        link_drop(l);
        return 0;
    }
    unsigned char proof[SECRET_NUMBER];
    if (m->kind != PROOF || m->bytes != sizeof proof || !s->asked) return -1;
    *out = s->hello;
    text_receive(out->host, sizeof out->host);
    if (compute_proof(w, CONNECTS, &s->hello, &s->challenge, proof) &&
        same_bytes(proof, (const unsigned char *)m->at))
        return 1;
    snprintf(why, ERROR_BYTES,
             "rank %d and rank %d have a different " VARIABLE "\nhelp: set the same " VARIABLE
             " or " FILE_VARIABLE " for all ranks",
             out->rank, w->rank);
    return -1;
}

bool secret_answer(World *w, Link *l, const Message *m) {
    Challenge c;
    unsigned char proof[SECRET_NUMBER];
    if (!w->secret.bytes || m->bytes != sizeof c) return false;
    memcpy(&c, m->at, sizeof c);
    if (!compute_proof(w, LISTENS, &w->greeting, &c, proof) || !same_bytes(proof, c.proof))
        return false;
    if (!compute_proof(w, CONNECTS, &w->greeting, &c, proof)) return false;
    l->proved = true;
    link_send(l, PROOF, proof, sizeof proof, NULL, 0);
    return true;
}
