/* A connection of the fake NCCL to its hub. Requests are answered in the order in which they were
 * made; only `wait` waits here, so a hub that is stopped blocks no other connection. */
#include "fake.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* NCCL_SOCKET_IFNAME: names or their beginnings; = in front: whole names; ^: all but these. */
static bool interface_wanted(const char *name) {
    const char *list = getenv("NCCL_SOCKET_IFNAME");
    if (!list || !*list) return true;
    bool except = *list == '^', whole = *list == '=';
    std::string rest = list + (except || whole);
    for (size_t at = 0; at <= rest.size();) {
        size_t end = std::min(rest.find(',', at), rest.size());
        std::string one = rest.substr(at, end - at);
        if (whole ? one == name : !strncmp(name, one.c_str(), one.size())) return !except;
        at = end + 1;
    }
    return except;
}

std::string fake_own_address() {
    struct ifaddrs *all = NULL;
    std::string found = "127.0.0.1";
    bool better = false;
    if (getifaddrs(&all)) return found;
    for (struct ifaddrs *a = all; a; a = a->ifa_next) {
        if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP)) continue;
        bool loopback = a->ifa_flags & IFF_LOOPBACK;
        if (!interface_wanted(a->ifa_name) || better || (loopback && !getenv("NCCL_SOCKET_IFNAME")))
            continue;
        char text[INET_ADDRSTRLEN];
        struct sockaddr_in in;
        memcpy(&in, a->ifa_addr, sizeof in);
        found = inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
        better = true;
    }
    freeifaddrs(all);
    return found;
}

Link::~Link() {
    if (fd >= 0) close(fd);
}

/* Tries until somebody listens there. */
bool Link::open(const FakeId &id, const std::atomic<bool> &stop) {
    struct sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)id.port);
    if (inet_pton(AF_INET, id.address, &to.sin_addr) != 1) return false;
    while (!stop) {
        int on = 1;
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to)) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return true;
        }
        if (fd >= 0) close(fd);
        fd = -1;
        usleep(20000);
    }
    return false;
}

std::shared_ptr<Request> Link::ask(const Ask &head, const void *bytes) {
    std::lock_guard<std::mutex> held(lock);
    auto r = std::make_shared<Request>();
    out.insert(out.end(), (const char *)&head, (const char *)&head + sizeof head);
    if (head.bytes) out.insert(out.end(), (const char *)bytes, (const char *)bytes + head.bytes);
    open_requests.push_back(r);
    return r;
}

bool Link::pump() {
    std::lock_guard<std::mutex> held(lock);
    if (gone || fd < 0) return false;
    while (sent < out.size()) {
        ssize_t n = send(fd, out.data() + sent, out.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) gone = true;
        if (n < 0) break;
        sent += (size_t)n;
    }
    if (sent == out.size()) {
        out.clear();
        sent = 0;
    }
    char buffer[65536];
    for (ssize_t n; !gone && (n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)) != -1;) {
        if (n == 0) gone = true;
        in.insert(in.end(), buffer, buffer + n);
    }
    for (Answer a; !open_requests.empty() && in.size() >= sizeof a;) {
        memcpy(&a, in.data(), sizeof a);
        size_t whole = sizeof a + a.bytes;
        if (in.size() < whole) break;
        Request &r = *open_requests.front();
        r.answer = a;
        r.bytes.assign(in.begin() + sizeof a, in.begin() + (long)whole);
        r.done = true;
        open_requests.pop_front();
        in.erase(in.begin(), in.begin() + (long)whole);
    }
    return !gone;
}

bool Link::wait(const Request &r, const std::atomic<bool> &stop) {
    while (!stop) {
        bool alive = pump();
        {
            std::lock_guard<std::mutex> held(lock);
            if (r.done) return true;
        }
        if (!alive) return false;
        usleep(200);
    }
    return false;
}
