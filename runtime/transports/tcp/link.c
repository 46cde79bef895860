/* Messages over one TCP connection, without waiting: received bytes are kept until a message is
 * whole, unsent bytes until the socket takes them. A head with a wrong magic number, kind or length
 * ends the connection before it is used. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

void link_open(Link *l, int fd, uint32_t limit) { *l = (Link){.fd = fd, .limit = limit}; }

void link_close(Link *l) {
    if (l->fd >= 0) close(l->fd);
    free(l->in.at);
    free(l->out.at);
    *l = (Link){.fd = -1};
}

bool link_is_open(const Link *l) { return l->fd >= 0; }
bool link_has_output(const Link *l) { return l->out.n > l->out.first; }

/* Makes space for `more` bytes after n; false if there is no memory. */
static bool reserve_bytes(Bytes *b, uint32_t more) {
    if (b->first > 0) {
        memmove(b->at, b->at + b->first, b->n - b->first);
        b->n -= b->first;
        b->first = 0;
    }
    if (b->n + more <= b->capacity) return true;
    uint32_t capacity = MAX(b->n + more, b->capacity * 2);
    char *grown = realloc(b->at, capacity);
    if (!grown) return false;
    b->at = grown;
    b->capacity = capacity;
    return true;
}

static void append_bytes(Bytes *b, const void *from, uint32_t n) {
    if (n) memcpy(b->at + b->n, from, n);
    b->n += n;
}

/* A message for which there is no memory ends the connection: then the other side knows. */
void link_send(Link *l, MessageKind kind, const void *part, uint32_t bytes, const void *more,
               uint32_t more_bytes) {
    if (l->fd < 0) return;
    MessageHead head = {.magic = MESSAGE_MAGIC,
                        .protocol = PROTOCOL,
                        .kind = (uint16_t)kind,
                        .bytes = bytes + more_bytes};
    if (!reserve_bytes(&l->out, (uint32_t)sizeof head + bytes + more_bytes)) {
        shutdown(l->fd, SHUT_RDWR);
        return;
    }
    append_bytes(&l->out, &head, sizeof head);
    append_bytes(&l->out, part, bytes);
    append_bytes(&l->out, more, more_bytes);
}

static bool try_later(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int link_flush(Link *l) {
    while (link_has_output(l) && !l->connecting) {
        ssize_t n = send(l->fd, l->out.at + l->out.first, l->out.n - l->out.first, MSG_NOSIGNAL);
        if (n < 0) return try_later() ? 0 : -1;
        l->out.first += (uint32_t)n;
    }
    return 0;
}

void link_refuse(Link *l, int code, const char *text) {
    Ending e = {.code = code};
    snprintf(e.text, sizeof e.text, "%s", text);
    link_send(l, REFUSED, &e, sizeof e, NULL, 0);
    link_flush(l);
}

int link_fill(Link *l) {
    /* One message at a time: the rest stays in the kernel and slows down its sender. */
    uint32_t most = (uint32_t)sizeof(MessageHead) + l->limit, have = l->in.n - l->in.first;
    if (have >= most) return 0;
    uint32_t piece = MIN(most - have, 4096u);
    MessageHead head;
    if (have >= sizeof head) {
        memcpy(&head, l->in.at + l->in.first, sizeof head);
        if (head.bytes <= l->limit && (uint32_t)sizeof head + head.bytes > have)
            piece = MAX(piece, (uint32_t)sizeof head + head.bytes - have);
        piece = MIN(piece, most - have);
    }
    if (!reserve_bytes(&l->in, piece)) return -1;
    ssize_t n = recv(l->fd, l->in.at + l->in.n, piece, 0);
    if (n == 0) {
        errno = 0;
        return -1;
    }
    if (n < 0) return try_later() ? 0 : -1;
    l->in.n += (uint32_t)n;
    l->silent = 0;
    return 1;
}

int link_next(Link *l, Message *m) {
    MessageHead head;
    uint32_t have = l->in.n - l->in.first;
    /* The magic number suffices to tell a stranger, who may wait for an answer to fewer bytes. */
    uint32_t magic = MESSAGE_MAGIC, there = MIN(have, (uint32_t)sizeof magic);
    if (there && memcmp(l->in.at + l->in.first, &magic, there)) return -1;
    if (have < sizeof head) return 0;
    memcpy(&head, l->in.at + l->in.first, sizeof head);
    if (head.protocol != PROTOCOL || head.kind == 0 || head.kind >= MESSAGE_KINDS ||
        head.bytes > l->limit)
        return -1;
    if (have - sizeof head < head.bytes) return 0;
    *m = (Message){
        .kind = head.kind, .bytes = head.bytes, .at = l->in.at + l->in.first + sizeof head};
    return 1;
}

void link_drop(Link *l) {
    MessageHead head;
    memcpy(&head, l->in.at + l->in.first, sizeof head);
    l->in.first += (uint32_t)sizeof head + head.bytes;
}

/* C0, DEL, and both bytes of a C1 character in UTF-8. */
static bool is_control(const unsigned char *text, const unsigned char *p) {
    bool second = p > text && p[-1] == 0xc2 && *p >= 0x80 && *p < 0xa0;
    bool first = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;
    return (*p < ' ' && *p != '\n') || *p == 0x7f || first || second;
}

void text_receive(char *text, size_t size) {
    char out[END_TEXT];
    size_t n = 0;
    text[size - 1] = 0;
    size = MIN(size, sizeof out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool control = is_control((const unsigned char *)text, p);
        size_t bytes = control ? 4 : 1;
        if (n + bytes >= size) break;
        if (control)
            snprintf(out + n, sizeof out - n, "\\x%02x", *p);
        else
            out[n] = (char)*p;
        n += bytes;
    }
    out[n] = 0;
    memcpy(text, out, n + 1);
}
