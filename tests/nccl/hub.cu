/* The hub of the fake NCCL: one thread that collects the requests of a communicator's ranks, in the
 * order of each rank, and answers when all have asked. What all ranks of a communicator must agree
 * on (kind, count, dtype, operation, root, and whether a graph issues it) is compared here; a real
 * NCCL would hang or give wrong numbers, this one answers ANSWER_MISMATCH to all, or hangs as well
 * (FSDP_FAKE_SILENT=1). Ranks that never ask keep the others waiting. */
#include "fake.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

const char *const fake_kind_names[ASK_KINDS] = {
    "hello",      "split",     "window", "end",  "all_gather", "reduce_scatter",
    "all_reduce", "broadcast", "reduce", "send", "receive"};

size_t fake_dtype_bytes(int dtype) {
    static const size_t bytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return dtype >= 0 && dtype < ncclNumTypes ? bytes[dtype] : 0;
}

/* ---- sums */

static float bf16_to_float(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static uint16_t float_to_bf16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (f != f) return (uint16_t)((bits >> 16) | 0x40u);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

template <class T> static T combine(T a, T b, int op) {
    return op == ncclSum ? a + b : op == ncclMax ? (a > b ? a : b) : (a < b ? a : b);
}
template <class T>
static void reduce_as(void *to, const std::vector<const char *> &from, uint64_t n, int op) {
    for (uint64_t i = 0; i < n; i++) {
        T sum = ((const T *)from[0])[i];
        for (size_t k = 1; k < from.size(); k++) sum = combine(sum, ((const T *)from[k])[i], op);
        ((T *)to)[i] = sum;
    }
}
static void reduce_bf16(void *to, const std::vector<const char *> &from, uint64_t n, int op) {
    for (uint64_t i = 0; i < n; i++) {
        float sum = bf16_to_float(((const uint16_t *)from[0])[i]);
        for (size_t k = 1; k < from.size(); k++)
            sum = combine(sum, bf16_to_float(((const uint16_t *)from[k])[i]), op);
        ((uint16_t *)to)[i] = float_to_bf16(sum);
    }
}
void fake_reduce(int dtype, int op, void *to, const std::vector<const char *> &from, uint64_t n) {
    switch (dtype) {
    case ncclFloat32: reduce_as<float>(to, from, n, op); return;
    case ncclFloat64: reduce_as<double>(to, from, n, op); return;
    case ncclInt32: reduce_as<int32_t>(to, from, n, op); return;
    case ncclUint32: reduce_as<uint32_t>(to, from, n, op); return;
    case ncclInt64: reduce_as<int64_t>(to, from, n, op); return;
    case ncclUint64: reduce_as<uint64_t>(to, from, n, op); return;
    case ncclUint8: reduce_as<uint8_t>(to, from, n, op); return;
    case ncclBfloat16: reduce_bf16(to, from, n, op); return;
    default: fake_fail("a reduction of dtype %d", dtype);
    }
}

/* ---- the hub */

struct Asked {
    Ask head;
    std::vector<char> bytes;
};
struct Connection {
    int fd;
    std::vector<char> in, out;
    size_t sent = 0;
    uint64_t table = 0; /* key of its communicator's table */
    int rank = -1;
};
/* All connections of one kind of one communicator. */
struct Table {
    std::vector<Connection *> member;
    std::vector<std::deque<Asked>> asked;
};
struct Hub {
    int listener = -1;
    std::vector<Connection *> connection;
    std::map<uint64_t, Table> table;
    uint64_t numbers = 1;
};

static void answer(Connection *c, int result, const void *bytes, size_t n) {
    Answer a = {result, 0, n};
    c->out.insert(c->out.end(), (const char *)&a, (const char *)&a + sizeof a);
    c->out.insert(c->out.end(), (const char *)bytes, (const char *)bytes + n);
}
/* Rank 0 last: its process may end with its answer, and the hub with it. */
static void answer_all(Table &t, int result, const std::string &text) {
    for (size_t i = t.member.size(); i-- > 0;)
        answer(t.member[i], result, text.data(), text.size());
}

/* Of two ranks one sends and the other receives. */
static bool meet(const Ask &a, const Ask &b) {
    bool kinds = a.kind == ASK_SEND ? b.kind == ASK_RECEIVE : b.kind == ASK_SEND;
    return kinds && a.root == 1 && b.root == 0;
}

static bool alike(const Table &t, std::string *text) {
    const Ask &a = t.asked[0].front().head;
    for (size_t i = 1; i < t.asked.size(); i++) {
        const Ask &b = t.asked[i].front().head;
        bool message = a.kind == ASK_SEND || a.kind == ASK_RECEIVE;
        bool kinds = message ? meet(a, b) : a.kind == b.kind;
        bool counts = a.kind == ASK_SPLIT || (a.count == b.count && (message || a.root == b.root));
        bool ways = a.recorded == b.recorded;
        if (kinds && a.dtype == b.dtype && a.op == b.op && counts && ways) continue;
        char line[400];
        const char *way[] = {"directly", "from a graph"};
        if (kinds && counts && !ways)
            snprintf(line, sizeof line, "rank 0 issues %s %s, rank %zu %s", fake_kind_names[a.kind],
                     way[a.recorded], i, way[b.recorded]);
        else
            snprintf(
                line, sizeof line,
                "rank 0 asks for %s of %llu elements of dtype %d (operation %d, root %d), rank "
                "%zu for %s of %llu of dtype %d (operation %d, root %d)",
                fake_kind_names[a.kind], (unsigned long long)a.count, a.dtype, a.op, a.root, i,
                fake_kind_names[b.kind], (unsigned long long)b.count, b.dtype, b.op, b.root);
        *text = line;
        return false;
    }
    return true;
}

static void hello(Table &t) {
    std::string duplicate;
    for (size_t i = 0; i < t.asked.size(); i++)
        for (size_t k = 0; k < i; k++) {
            const Ask &a = t.asked[k].front().head, &b = t.asked[i].front().head;
            if (a.device == b.device && !strcmp(a.host, b.host))
                duplicate = "Duplicate GPU detected : rank " + std::to_string(i) + " and rank " +
                            std::to_string(k) + " both on CUDA device " + std::to_string(a.device);
        }
    answer_all(t, duplicate.empty() ? ncclSuccess : ncclInvalidUsage, duplicate);
}

/* Members of a color in the order of their keys, then of their ranks. */
static void split(Hub &h, Table &t) {
    size_t n = t.member.size();
    std::vector<uint64_t> number(n);
    std::vector<std::vector<int32_t>> of(n);
    for (size_t i = 0; i < n; i++) {
        uint64_t color = t.asked[i].front().head.count;
        for (size_t k = 0; k < n; k++)
            if (t.asked[k].front().head.count == color) of[i].push_back((int32_t)k);
        std::stable_sort(of[i].begin(), of[i].end(), [&](int32_t a, int32_t b) {
            return t.asked[(size_t)a].front().head.root < t.asked[(size_t)b].front().head.root;
        });
        size_t first = (size_t)of[i][0];
        for (int32_t m : of[i]) first = std::min(first, (size_t)m);
        number[i] = first == i ? h.numbers++ : number[first];
    }
    for (size_t i = n; i-- > 0;) {
        Child c = {number[i], 0, (int32_t)of[i].size()};
        while (of[i][(size_t)c.rank] != (int32_t)i) c.rank++;
        std::string text((const char *)&c, sizeof c);
        text.append((const char *)of[i].data(), of[i].size() * sizeof(int32_t));
        answer(t.member[i], ncclSuccess, text.data(), text.size());
    }
}

static void collective(Table &t) {
    const Ask a = t.asked[0].front().head;
    size_t n = t.member.size(), width = fake_dtype_bytes(a.dtype);
    std::vector<const char *> from;
    std::string all;
    for (auto &q : t.asked) from.push_back(q.front().bytes.data());
    if (a.kind == ASK_ALL_GATHER)
        for (auto &q : t.asked) all.append(q.front().bytes.data(), q.front().bytes.size());
    if (a.kind == ASK_BROADCAST) all.assign(from[(size_t)a.root], a.count * width);
    if (a.kind == ASK_ALL_REDUCE || a.kind == ASK_REDUCE || a.kind == ASK_REDUCE_SCATTER) {
        uint64_t elements = a.kind == ASK_REDUCE_SCATTER ? a.count * n : a.count;
        all.resize(elements * width);
        fake_reduce(a.dtype, a.op, &all[0], from, elements);
    }
    if (a.kind == ASK_SEND || a.kind == ASK_RECEIVE) {
        size_t sender = a.kind == ASK_SEND ? 0 : 1;
        answer(t.member[1 - sender], ncclSuccess, from[sender], a.count * width);
        answer(t.member[sender], ncclSuccess, "", 0);
        return;
    }
    for (size_t i = n; i-- > 0;) {
        size_t piece = a.kind == ASK_REDUCE_SCATTER ? a.count * width : all.size();
        size_t at = a.kind == ASK_REDUCE_SCATTER ? i * piece : 0;
        if (a.kind == ASK_REDUCE && i != (size_t)a.root) piece = 0;
        answer(t.member[i], ncclSuccess, all.data() + at, piece);
    }
}

static void serve(Hub &h, Table &t) {
    for (;;) {
        for (size_t i = 0; i < t.member.size(); i++)
            if (!t.member[i] || t.asked[i].empty()) return;
        std::string text;
        uint32_t kind = t.asked[0].front().head.kind;
        static const bool silent = fake_setting("FSDP_FAKE_SILENT", 0) != 0;
        if (!alike(t, &text) && silent) return;
        if (!text.empty())
            answer_all(t, ANSWER_MISMATCH, text);
        else if (kind == ASK_HELLO)
            hello(t);
        else if (kind == ASK_SPLIT)
            split(h, t);
        else if (kind == ASK_WINDOW || kind == ASK_END)
            answer_all(t, ncclSuccess, "");
        else
            collective(t);
        for (auto &q : t.asked) q.pop_front();
    }
}

static void accept_ask(Hub &h, Connection *c, Asked &&asked) {
    const Ask &a = asked.head;
    if (a.kind == ASK_HELLO) {
        c->table = a.number * 2 + (uint64_t)a.control;
        c->rank = a.rank;
        Table &t = h.table[c->table];
        if (t.member.empty()) {
            t.member.resize((size_t)a.ranks);
            t.asked.resize((size_t)a.ranks);
        }
        bool fits = t.member.size() == (size_t)a.ranks && a.rank >= 0 && a.rank < a.ranks &&
                    !t.member[(size_t)a.rank];
        if (!fits) {
            std::string text = "rank or number of ranks is not as the others say";
            answer(c, ANSWER_MISMATCH, text.data(), text.size());
            return;
        }
        t.member[(size_t)a.rank] = c;
    }
    Table &t = h.table[c->table];
    t.asked[(size_t)c->rank].push_back(std::move(asked));
    serve(h, t);
}

static bool receive(Hub &h, Connection *c) {
    char buffer[65536];
    for (;;) {
        ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n == 0) return false;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (n < 0) return false;
        c->in.insert(c->in.end(), buffer, buffer + n);
    }
    for (;;) {
        Asked asked;
        if (c->in.size() < sizeof asked.head) return true;
        memcpy(&asked.head, c->in.data(), sizeof asked.head);
        size_t whole = sizeof asked.head + asked.head.bytes;
        if (c->in.size() < whole) return true;
        asked.bytes.assign(c->in.begin() + sizeof asked.head, c->in.begin() + (long)whole);
        c->in.erase(c->in.begin(), c->in.begin() + (long)whole);
        accept_ask(h, c, std::move(asked));
    }
}

static bool flush(Connection *c) {
    while (c->sent < c->out.size()) {
        ssize_t n = send(c->fd, c->out.data() + c->sent, c->out.size() - c->sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        c->sent += (size_t)n;
    }
    c->out.clear();
    c->sent = 0;
    return true;
}

static void drop(Hub &h, Connection *c) {
    auto t = h.table.find(c->table);
    if (c->rank >= 0 && t != h.table.end())
        for (auto &m : t->second.member)
            if (m == c) m = nullptr;
    close(c->fd);
    delete c;
}

static void hub_main(Hub *h) {
    for (;;) {
        std::vector<struct pollfd> wanted = {{h->listener, POLLIN, 0}};
        for (Connection *c : h->connection)
            wanted.push_back({c->fd, (short)(POLLIN | (c->out.empty() ? 0 : POLLOUT)), 0});
        poll(wanted.data(), wanted.size(), -1);
        if (wanted[0].revents) {
            int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;
            if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (fd >= 0) h->connection.push_back(new Connection{fd, {}, {}, 0, 0, -1});
        }
        std::vector<Connection *> kept, dropped;
        for (size_t i = 0; i < h->connection.size(); i++) {
            bool asks = i + 1 < wanted.size() && wanted[i + 1].revents;
            bool good = !asks || receive(*h, h->connection[i]);
            (good ? kept : dropped).push_back(h->connection[i]);
        }
        h->connection = kept;
        for (Connection *c : dropped) drop(*h, c);
        for (size_t i = kept.size(); i-- > 0;) flush(kept[i]);
    }
}

void fake_hub_start(int *port) {
    Hub *h = new Hub;
    struct sockaddr_in at = {};
    socklen_t size = sizeof at;
    int on = 1;
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)*port);
    at.sin_addr.s_addr = INADDR_ANY;
    h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(h->listener, (struct sockaddr *)&at, sizeof at) || listen(h->listener, 256) ||
        getsockname(h->listener, (struct sockaddr *)&at, &size))
        fake_fail("no port for the hub: %s", strerror(errno));
    *port = ntohs(at.sin_port);
    std::thread(hub_main, h).detach();
}
