/* The hosts of --hosts: reads the list, asks whether they are still there, and distributes ranks.
 *
 * A host is asked by running `true` on it with the program that mpirun starts its daemons with
 * (ssh, or OMPI_MCA_plm_rsh_agent). A host that has never answered does not count as lost: more
 * likely it cannot be asked this way at all.
 */
#include <ctype.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"

enum { PATIENCE_MS = 10000, MOST_PLACES = 1 << 16 };

/* ---- the list */

/* An address of this machine is one that a socket can have. */
static bool is_address_here(const char *name) {
    struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list = NULL;
    bool here = false;
    if (getaddrinfo(name, NULL, &want, &list)) return false;
    for (const struct addrinfo *a = list; a && !here; a = a->ai_next) {
        int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        here = fd >= 0 && !bind(fd, a->ai_addr, a->ai_addrlen);
        if (fd >= 0) close(fd);
    }
    freeaddrinfo(list);
    return here;
}

static bool is_here(const char *name) {
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    size_t label = strcspn(own, ".");
    bool same = !strcmp(name, own) || (strlen(name) == label && !strncmp(name, own, label));
    return same || is_address_here(name);
}

/* Names are put into a command. */
static bool is_name(const char *text, size_t n) {
    if (!n || *text == '-') return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i])) return false;
    return true;
}

/* "node1:4", or "node1", which has one place. */
static bool read_host(const char *text, size_t n, Arena *a, Host *out) {
    size_t name = 0;
    long places = 1;
    while (name < n && text[name] != ':') name++;
    if (!is_name(text, name)) return false;
    if (name < n) {
        char *end;
        if (!isdigit((unsigned char)text[name + 1])) return false;
        places = strtol(text + name + 1, &end, 10);
        if (end != text + n || places < 1 || places > MOST_PLACES) return false;
    }
    *out = (Host){.name = arena_strndup(a, text, name), .places = (int32_t)places};
    return true;
}

static int check_hosts(const Hosts *h, const char *text, int32_t ranks, char *error) {
    int64_t places = 0;
    for (int32_t i = 0; i < h->n; i++) places += h->host[i].places;
    if (!h->host[0].here)
        return fail_with(
            error, EXIT_USER,
            "--hosts %.150s: the first host has rank 0 and must be this machine, which %.80s "
            "is not\nhelp: name this machine first, or start fsdp-run on %.80s",
            text, h->host[0].name, h->host[0].name);
    if (places >= ranks) return 0;
    return fail_with(error, EXIT_USER,
                     "--hosts %.200s: the hosts have room for %lld rank%s, but the run has %d\n"
                     "help: HOST:RANKS says how many a host takes",
                     text, (long long)places, places == 1 ? "" : "s", ranks);
}

int hosts_read(const char *text, int32_t ranks, Arena *a, Hosts *out, char *error) {
    *out = (Hosts){.host = arena_array(a, Host, MOST_HOSTS)};
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        if (out->n == MOST_HOSTS || !read_host(at, n, a, &out->host[out->n]))
            return fail_with(error, EXIT_USER,
                             "--hosts %.200s: `%.*s` is not HOST or HOST:RANKS\n"
                             "help: --hosts node1:4,node2:4",
                             text, (int)MIN(n, (size_t)100), at);
        out->host[out->n].here = is_here(out->host[out->n].name);
        out->n++;
        at += n;
        if (!*at) return check_hosts(out, text, ranks, error);
    }
}

/* ---- who answers */

/* mpirun's own choice: the first of a list with colons. */
static void question_command(const char *name, char *out, size_t size) {
    const char *agent = getenv("OMPI_MCA_plm_rsh_agent");
    if (!agent || !*agent) agent = "ssh";
    snprintf(out, size, "exec %.*s %s true", (int)strcspn(agent, ":"), agent, name);
}

/* In its own session, without a terminal, so that ssh cannot prompt for a password. */
static pid_t start_question(const char *name) {
    char command[1024];
    question_command(name, command, sizeof command);
    pid_t pid = fork();
    if (pid) return pid;
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    setsid();
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(EXIT_ENVIRONMENT);
}

/* Kills the question if it is still running at the deadline. */
static bool host_answered(pid_t pid, int64_t deadline) {
    enum { PAUSE_MS = 20 };
    int status = -1;
    while (pid > 0 && !waitpid(pid, &status, WNOHANG)) {
        if (monotonic_ms() >= deadline) kill(-pid, SIGKILL);
        pause_ms(PAUSE_MS);
    }
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void hosts_ask(Hosts *h) {
    pid_t asked[MOST_HOSTS];
    int64_t deadline = monotonic_ms() + PATIENCE_MS;
    for (int32_t i = 0; i < h->n; i++)
        if (!h->host[i].here) asked[i] = start_question(h->host[i].name);
    for (int32_t i = 0; i < h->n; i++) {
        Host *host = &h->host[i];
        bool there = host->here || host_answered(asked[i], deadline);
        host->lost = host->known && !there;
        host->known |= there;
    }
}

int32_t hosts_lost(const Hosts *h) {
    int32_t lost = 0;
    for (int32_t i = 0; i < h->n; i++) lost += h->host[i].lost;
    return lost;
}

/* ---- their ranks */

static int64_t places_left(const Hosts *h) {
    int64_t places = 0;
    for (int32_t i = 0; i < h->n; i++) places += h->host[i].lost ? 0 : h->host[i].places;
    return places;
}

bool hosts_have_room(const Hosts *h, int32_t ranks) { return places_left(h) >= ranks; }

void hosts_share(const Hosts *h, int32_t ranks, int32_t *share) {
    int64_t places = places_left(h), before = 0, given = 0;
    for (int32_t i = 0; i < h->n; i++) {
        if (!h->host[i].lost) before += h->host[i].places;
        int64_t up_to = places >= ranks ? MIN(before, (int64_t)ranks) : before * ranks / places;
        share[i] = (int32_t)(up_to - given);
        given = up_to;
    }
}

char *hosts_line(const Hosts *h, int32_t ranks, Arena *a) {
    int32_t share[MOST_HOSTS];
    Buf line = {0};
    hosts_share(h, ranks, share);
    for (int32_t i = 0; i < h->n; i++)
        if (share[i]) buf_printf(&line, "%s%s:%d", line.n ? "," : "", h->host[i].name, share[i]);
    return buf_text(a, &line);
}
