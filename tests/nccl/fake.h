/* A libnccl.so.2 without a GPU: declarations shared by its files.
 *
 * Data and decisions go through one hub, a thread of the process that created the unique id. Every
 * rank of every communicator has two connections to it, one for the collectives on streams and one
 * for what hosts do together (split, windows, the end). The hub waits until all ranks of a
 * connection's communicator have asked, compares their requests, and answers.
 */
#ifndef FSDPC_TESTS_NCCL_FAKE_H
#define FSDPC_TESTS_NCCL_FAKE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <string>
#include <thread>
#include <vector>

/* ---- what goes over a connection */

enum AskKind : uint32_t {
    ASK_HELLO, /* the communicator's number, this rank and how many there are */
    ASK_SPLIT, /* color in `count`, key in `root` */
    ASK_WINDOW,
    ASK_END,
    ASK_ALL_GATHER, /* from here on: collectives */
    ASK_REDUCE_SCATTER,
    ASK_ALL_REDUCE,
    ASK_BROADCAST,
    ASK_REDUCE,
    ASK_SEND, /* of two ranks; the other one in `root` */
    ASK_RECEIVE,
    ASK_KINDS
};
extern const char *const fake_kind_names[ASK_KINDS];

struct Ask {
    uint32_t kind;
    int32_t rank, ranks, dtype, op, root, device, control;
    int32_t recorded; /* a graph issues it */
    uint64_t number;  /* HELLO: communicator; 0 is the one that the unique id stands for */
    uint64_t count;   /* elements; bytes of a window; color */
    uint64_t bytes;   /* behind this */
    char host[64];
};
struct Answer {
    int32_t result, pad; /* ncclResult_t, or ANSWER_MISMATCH; the text is behind this */
    uint64_t bytes;
};
enum { ANSWER_MISMATCH = 100 };
/* Answer to a split, followed by the members' ranks in the parent. */
struct Child {
    uint64_t number;
    int32_t rank, ranks;
};
/* What the 128 bytes of a unique id hold. */
struct FakeId {
    char magic[8], address[64];
    int32_t port, pad;
    uint64_t cookie;
};
#define FAKE_MAGIC "fakenc1"

/* ---- hub.cu: the hub, its thread; *port 0 finds one. */
void fake_hub_start(int *port);
/* Sums in rank order: f32 for all floating types, then rounded once. */
void fake_reduce(int dtype, int op, void *to, const std::vector<const char *> &from, uint64_t n);
size_t fake_dtype_bytes(int dtype);

/* ---- link.cu: a connection to the hub */
struct Request {
    bool done = false;
    Answer answer = {};
    std::vector<char> bytes;
};
struct Link {
    ~Link();
    bool open(const FakeId &id, const std::atomic<bool> &stop);
    std::shared_ptr<Request> ask(const Ask &head, const void *bytes);
    bool pump(); /* sends and receives what can be now; false: the connection is gone */
    /* Until the answer is there; false when `stop` was set or the connection is gone. */
    bool wait(const Request &r, const std::atomic<bool> &stop);

  private:
    std::mutex lock;
    int fd = -1;
    bool gone = false;
    std::vector<char> out, in;
    size_t sent = 0;
    std::deque<std::shared_ptr<Request>> open_requests;
};
/* This process's address for others: NCCL_SOCKET_IFNAME's, or the first that is not loopback. */
std::string fake_own_address();

/* ---- life.cu */
struct Comm {
    std::string name; /* 0 for the first, 0.2 for a child of it that the hub numbered 2 */
    int rank = 0, ranks = 0, device = 0;
    bool blocking = true, finalized = false;
    std::vector<int> members; /* ranks of the first communicator */
    FakeId id = {};
    Link link, control;
    std::atomic<bool> aborted{false};
    std::mutex lock; /* of the rest */
    ncclResult_t state = ncclSuccess;
    std::atomic<bool> worked{true}; /* the thread that did it is through */
    int questions = 0;              /* that are still answered with ncclInProgress */
    ncclResult_t outcome = ncclSuccess;
    std::vector<std::function<void()>> late; /* what to do when it is through */
    std::thread worker;
    std::vector<std::shared_ptr<void>> registered;
    unsigned groups = 0;
    /* under the emulated runtime's lock */
    uint64_t issued = 0, finished = 0;
    std::shared_ptr<int> captured = std::make_shared<int>(0); /* copies: nodes of graphs */
};
[[noreturn]] void fake_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The communicator of a handle that may be used; ends the process otherwise. */
std::shared_ptr<Comm> fake_comm(ncclComm_t comm, const char *call);
/* Makes the communicator answer ncclInProgress for a while, then does `then`. */
ncclResult_t fake_in_progress(const std::shared_ptr<Comm> &c, std::function<void()> then);
long fake_setting(const char *name, long otherwise);

/* ---- trace.cu: a line a call into FSDP_FAKE_TRACE/process-id; under the runtime's lock */
void fake_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fake_stream_number(const void *stream);

#endif
