/* Addresses and sockets, IPv4 and IPv6. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

enum { BUSY_SECONDS = 2 };

static void set_option(int fd, int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof value);
}

/* A peer whose machine or cable is gone is noticed by the kernel too, after the same time. */
void socket_options(int fd, int32_t timeout_seconds) {
    int32_t seconds = MIN(timeout_seconds, 1000000);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, MAX(1, MIN(seconds / 2, 32767)));
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, MAX(1, MIN(seconds / 4, 32767)));
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)seconds * 1000);
}

/* Every interface, IPv6 where the machine has it, else IPv4; only this machine when the ranks meet
 * at a loopback address. It never binds to a name: /etc/hosts often maps a machine's own name to
 * 127.0.1.1. */
static socklen_t where_to_listen(const char *address, int32_t port, bool four,
                                 struct sockaddr_storage *out) {
    struct sockaddr_in6 *six = (void *)out;
    struct sockaddr_in *in = (void *)out;
    struct in_addr a;
    bool here = address && (!strcmp(address, "localhost") ||
                            (inet_pton(AF_INET, address, &a) == 1 && ntohl(a.s_addr) >> 24 == 127));
    if (here || four) {
        *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        in->sin_addr.s_addr = htonl(here ? INADDR_LOOPBACK : INADDR_ANY);
        return sizeof *in;
    }
    *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    six->sin6_addr = address && !strcmp(address, "::1") ? in6addr_loopback : in6addr_any;
    return sizeof *six;
}

static int listen_once(const char *address, int32_t port, bool four) {
    struct sockaddr_storage at;
    socklen_t length = where_to_listen(address, port, four, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (at.ss_family == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (!bind(fd, (void *)&at, length) && !listen(fd, SOMAXCONN)) return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

int socket_listen(const char *address, int32_t port, int *out, char *error) {
    /* The run before this one may be about to end. */
    for (int i = 0; i < BUSY_SECONDS * SLICES_A_SECOND; i++) {
        bool four = false;
        *out = listen_once(address, port, false);
        if (*out < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) four = true;
        if (four) *out = listen_once(address, port, true);
        if (*out >= 0) return 0;
        if (errno != EADDRINUSE) break;
        pause_ms(SLICE_MS);
    }
    if (errno == EADDRINUSE)
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "port %d, on which rank 0 listens, is used by another program or another rank 0\n"
            "help: end that program (ss -ltnp shows it), or set FSDP_NCCL_PORT to a free port "
            "for all ranks",
            port);
    return fail_with(error, EXIT_ENVIRONMENT,
                     "rank 0 cannot listen on port %d: %s\n"
                     "help: set FSDP_NCCL_PORT to another port for all ranks",
                     port, strerror(errno));
}

static void set_port(struct sockaddr_storage *at, uint32_t port) {
    if (at->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)at)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)(void *)at)->sin_port = htons((uint16_t)port);
}

int socket_listen_beside(int connection) {
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    if (getsockname(connection, (void *)&at, &length)) return -1;
    set_port(&at, 0);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (!bind(fd, (void *)&at, length) && !listen(fd, SOMAXCONN))) return fd;
    close(fd);
    return -1;
}

uint32_t socket_port(int fd) {
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    if (getsockname(fd, (void *)&at, &length)) return 0;
    if (at.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)(void *)&at)->sin6_port);
    return ntohs(((struct sockaddr_in *)(void *)&at)->sin_port);
}

/* IPv4 as seen through a socket of IPv6 is plain IPv4 again: others may lack IPv6. */
socklen_t socket_peer(int fd, uint32_t port, struct sockaddr_storage *out) {
    socklen_t length = sizeof *out;
    if (getpeername(fd, (void *)out, &length)) return 0;
    struct sockaddr_in6 six = *(struct sockaddr_in6 *)(void *)out;
    if (out->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
        struct sockaddr_in *in = (void *)out;
        *in = (struct sockaddr_in){.sin_family = AF_INET};
        memcpy(&in->sin_addr, six.sin6_addr.s6_addr + 12, sizeof in->sin_addr);
        length = sizeof *in;
    }
    set_port(out, port);
    return length;
}

int socket_connect(const struct sockaddr *to, socklen_t length) {
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (!connect(fd, to, length) || errno == EINPROGRESS) return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

int socket_error(int fd) {
    int failure = 0;
    socklen_t length = sizeof failure;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &length)) return errno;
    return failure;
}
