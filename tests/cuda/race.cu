/* Checks every access of a kernel on the emulated GPU: the hooks that -fsanitize=thread puts before
 * loads and stores, without its library, since "threads" here are fibers.
 *
 * Order. A stamp stands for the interval of one GPU thread between two barriers. Two accesses of
 * one launch are ordered if they belong to one thread, or to one block with a __syncthreads()
 * between them, or to one warp with a __syncwarp() between them; shuffles and matrix instructions
 * guarantee no order of memory. Across blocks a turn orders them (warpgroup.h): what the thread
 * that passes it on did before is visible to the thread that takes it. A product of a warpgroup
 * reads from its issue until it is waited for, and sees only what its writer has fenced
 * (shared_for_products). Each piece of memory remembers its last writer and two readers since then,
 * chosen such that a later access that is unordered with any reader is unordered with one of these
 * two; atomics are ordered only among themselves. So a race is found whatever the order in which
 * threads happened to run.
 *
 * Place. Shared memory is the launch's dynamic part and the module's __shared__ variables, which
 * its symbol table distinguishes; what no thread of the block wrote must not be read. In device
 * memory a launch of a call of ops.def (race_table.c) may read its operands and write its results
 * and workspace, and must write the latter two before it reads them; other memory only within the
 * allocated bytes. A background copy accesses shared memory from its start until its thread waits
 * for it; no other access may happen in between. Alignment: the hooks of -fsanitize=alignment.
 *
 * The unit is two bytes, or one where single bytes are accessed. Each finding is printed once for
 * each place in the code; the process continues, and ends with RACE_FOUND.
 */
#include "race.h"

#include "emulate_streams.h"
#include "race_code.h"
#include "race_table.h"
#include "race_warpgroup.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

enum { RACE_FOUND = 66, LANES = 32, MOST_REPORTS = 40, DROP_CELLS = 16 << 20 };
enum Kind { READ, WRITE, ATOMIC };

struct EmulatedIndex {
    unsigned x, y, z;
};
extern EmulatedIndex threadIdx, blockIdx, blockDim, gridDim;

typedef uint32_t Stamp;
static const Stamp ATOMICALLY = 1u << 31, UNDERWAY = 1u << 30, NUMBER = UNDERWAY - 1;

namespace {
/* Who touched a piece last: two that wrote only where both did so atomically. */
struct Cell {
    Stamp write, write2, read, read2;
    uint32_t write_at, read_at; /* in the module's code */
};
struct Stretch {
    uint32_t block, turn;
    uint16_t thread, warp_turn;
};
/* Memory and its cells: those of even bytes, and of odd ones that were touched alone. */
struct Shadow {
    const char *begin;
    size_t bytes;
    Cell *even, *odd;
};
struct Range {
    const char *begin, *end;
    bool writable, fresh; /* fresh: to be written before it is read */
    std::string name;
};
struct Call {
    std::string name;
    std::vector<Range> range;
    Stamp since; /* of the first launch */
};
} /* namespace */

static const char *stacks, *dynamic_begin, *code;
static size_t all_stacks_bytes, one_stack_bytes, dynamic_bytes, body_bytes, parameter_bytes;
static const void *body, *parameters, *kernel;
static Stamp next_stamp = 1, launch_first, block_first, dropped;
static std::vector<Stretch> &stretch = *new std::vector<Stretch>; /* from launch_first on */
static Stamp mine[MAX_BLOCK_THREADS];                             /* 0: none yet */
static uint32_t turn[MAX_BLOCK_THREADS];
static uint16_t warp_turn[MAX_BLOCK_THREADS];
/* What has given its turn: up to which stamp, by block and thread. */
typedef std::map<std::pair<uint32_t, unsigned>, Stamp> Past;
static std::map<const void *, Past> &turns = *new std::map<const void *, Past>; /* of a launch */
static Past warp_past[MAX_BLOCK_THREADS / LANES];                               /* of a block */
static Stamp fenced[MAX_BLOCK_THREADS]; /* by shared_for_products, up to that stamp */
static Call *call;
static std::vector<Call *> &calls = *new std::vector<Call *>(1, nullptr);
static thread_local uint32_t host_call, host_ordinal;
static Shadow dynamic_shadow, static_shadow;
static std::vector<Shadow> &shadows = *new std::vector<Shadow>;
static std::vector<Variable> &variables = *new std::vector<Variable>;
static size_t touched;
static int reports;

/* ---- what is said */

static uint32_t in_code(const void *at) { return at ? (uint32_t)((const char *)at - code) : 0; }

static std::string thread_name(Stamp s) {
    if (!s || (s & NUMBER) < launch_first) return "?";
    const Stretch &t = stretch[(s & NUMBER) - launch_first];
    return "thread " + std::to_string(t.thread) + " of block " + std::to_string(t.block);
}
static std::string offset_in(const std::string &name, const char *begin, const char *p) {
    return name + " + " + std::to_string(p - begin);
}
static std::string address(const char *p) {
    if ((size_t)(p - dynamic_begin) < dynamic_bytes)
        return offset_in("dynamic shared memory", dynamic_begin, p);
    for (const Variable &v : variables)
        if ((size_t)(p - v.begin) < v.bytes) return offset_in("shared " + v.name, v.begin, p);
    const Range *nearest = nullptr;
    for (size_t i = 0; call && i < call->range.size(); i++) {
        const Range &r = call->range[i];
        if (p >= r.begin && p < r.end) return offset_in(r.name, r.begin, p);
        if (p >= r.end && (!nearest || r.end > nearest->end)) nearest = &r;
    }
    if (nearest && p - nearest->end < 4096)
        return std::to_string(p - nearest->end) + " bytes behind the end of " + nearest->name;
    EmulatedMemory m;
    char text[32];
    snprintf(text, sizeof text, "%p", (const void *)p);
    return emulate_memory(p, &m) ? offset_in("an allocation", m.at, p) : text;
}

/* In front of the process's end; what is on its way to a file is written. */
static void finish() {
    if (!reports) return;
    fprintf(stderr, "race: %d found\n", reports);
    fflush(nullptr);
    _exit(RACE_FOUND);
}

/* "KERNEL of OP: thread 1 of block 0 reads input 0 + 4 (x.cu:3): WHAT". Once a pair of places. */
static void report(Kind kind, const char *p, size_t bytes, uint32_t at, const std::string &what,
                   uint32_t other_at = 0) {
    static std::set<std::pair<uint32_t, uint32_t>> said;
    static const char *const verbs[] = {"reads", "writes", "adds to"};
    if (!said.insert({at, other_at}).second) return;
    if (reports++ == 0) atexit(finish);
    if (reports > MOST_REPORTS) return;
    std::string where = place(at, false);
    std::string function = kernel ? place(in_code(kernel), true) : "?";
    fprintf(stderr, "race: %s of %s: thread %u of block %u %s %zu bytes of %s (%s): %s",
            function.c_str(), call ? call->name.c_str() : "no op", threadIdx.x, blockIdx.x,
            verbs[kind], bytes, address(p).c_str(), where.c_str(), what.c_str());
    fprintf(stderr, other_at ? " (%s)\n" : "\n", other_at ? place(other_at, false).c_str() : "");
}

/* ---- order */

static Stamp new_stamp(uint32_t block, unsigned thread, uint32_t t, uint16_t warp) {
    if (next_stamp == NUMBER) {
        fprintf(stderr, "race: too many stamps\n");
        abort();
    }
    stretch.push_back({block, t, (uint16_t)thread, warp});
    return next_stamp++;
}
static Stamp own_stamp() {
    unsigned t = threadIdx.x;
    if (!mine[t]) mine[t] = new_stamp(blockIdx.x, t, turn[t], warp_turn[t]);
    return mine[t];
}
static const Stretch &stretch_of(Stamp s) { return stretch[(s & NUMBER) - launch_first]; }

/* Did the running warp take a turn that the older access's thread gave after it? */
static bool in_past(const Stretch &a, Stamp older) {
    const Past &past = warp_past[threadIdx.x / LANES];
    auto found = past.find({a.block, a.thread});
    return found != past.end() && older <= found->second;
}
/* Nothing orders the older access before that of `now`. */
static inline bool unordered(Stamp older, Stamp now) {
    older &= NUMBER;
    if (older < launch_first || older == now) return false;
    const Stretch &a = stretch_of(older), &b = stretch_of(now);
    if (a.block != b.block) return !in_past(a, older);
    if (a.thread == b.thread || a.turn != b.turn) return false;
    return a.thread / LANES != b.thread / LANES || a.warp_turn == b.warp_turn;
}
static bool other_warp(const Stretch &a, const Stretch &b) {
    return a.thread / LANES != b.thread / LANES;
}
/* Takes `now` to the two that are remembered. */
static inline void remember(Stamp &one, Stamp &two, Stamp now) {
    bool of_one = unordered(one, now & NUMBER), of_two = unordered(two, now & NUMBER);
    if (!of_one) {
        one = now;
        if (!of_two) two = 0;
        return;
    }
    if (!of_two) {
        two = now;
        return;
    }
    const Stretch &a = stretch_of(one), &b = stretch_of(two), &c = stretch_of(now);
    if (a.block != b.block) return;
    if (c.block != a.block || (!other_warp(a, b) && other_warp(a, c))) two = now;
}

static void race_with(Stamp other, uint32_t other_at, const char *did, Kind kind, const char *p,
                      size_t bytes, uint32_t at) {
    report(kind, p, bytes, at, thread_name(other) + " " + did + " it without a barrier in between",
           other_at);
}

/* One cell. oldest: what was before this stamp does not count. */
static inline void touch(Cell &c, Kind kind, Stamp now, Stamp oldest, const char *p, size_t bytes,
                         uint32_t at) {
    if ((c.write & NUMBER) < oldest) c = Cell{};
    if (c.write & UNDERWAY) {
        report(kind, p, bytes, at, "a copy that nobody has waited for writes there", c.write_at);
        return;
    }
    if (kind == READ) {
        if (c.read == now) return;
        if (unordered(c.write, now)) race_with(c.write, c.write_at, "wrote", kind, p, bytes, at);
        if (c.write2 && unordered(c.write2, now))
            race_with(c.write2, c.write_at, "wrote", kind, p, bytes, at);
        remember(c.read, c.read2, now);
        c.read_at = at;
        return;
    }
    bool among_atomics = kind == ATOMIC && (c.write & ATOMICALLY);
    if (!among_atomics) {
        if (unordered(c.write, now)) race_with(c.write, c.write_at, "wrote", kind, p, bytes, at);
        if (c.write2 && unordered(c.write2, now))
            race_with(c.write2, c.write_at, "wrote", kind, p, bytes, at);
    }
    if (c.read && unordered(c.read, now))
        race_with(c.read, c.read_at, "reads", kind, p, bytes, at);
    else if (c.read2 && unordered(c.read2, now))
        race_with(c.read2, c.read_at, "reads", kind, p, bytes, at);
    if (among_atomics) {
        remember(c.write, c.write2, now | ATOMICALLY);
    } else {
        c.write = kind == ATOMIC ? now | ATOMICALLY : now;
        c.write2 = 0;
    }
    c.read = c.read2 = 0;
    c.write_at = at;
}

/* ---- cells */

static Cell *reserve(size_t cells) {
    void *p = mmap(nullptr, cells * sizeof(Cell), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "race: no memory for %zu cells\n", cells);
        abort();
    }
    return (Cell *)p;
}
static Shadow new_shadow(const char *begin, size_t bytes) {
    return {begin, bytes, reserve(bytes / 2 + 1), reserve(bytes / 2 + 1)};
}
static Shadow *shadow_of(const char *p) {
    static Shadow *last;
    if (last && (size_t)(p - last->begin) < last->bytes) return last;
    for (Shadow &s : shadows)
        if ((size_t)(p - s.begin) < s.bytes) return last = &s;
    EmulatedMemory m;
    if (!emulate_memory(p, &m)) return nullptr;
    /* what was there before was given back and taken anew */
    for (size_t i = 0; i < shadows.size();)
        if (shadows[i].begin < m.at + m.bytes && shadows[i].begin + shadows[i].bytes > m.at)
            shadows.erase(shadows.begin() + (long)i);
        else
            i++;
    shadows.push_back(new_shadow(m.at, m.bytes));
    return last = &shadows.back();
}

/* Calls each(cell) for all bytes; where neighbours are alike, so is what becomes of them. */
template <class Each> static inline void cells(Shadow &s, const char *p, size_t bytes, Each each) {
    size_t at = (size_t)(p - s.begin), end = at + bytes;
    if (at % 2) each(s.odd[at++ / 2]);
    if (at >= end) return;
    Cell &first = s.even[at / 2], before = first;
    each(first);
    for (at += 2; at < end; at += 2) {
        Cell &c = s.even[at / 2];
        if (memcmp(&c, &before, sizeof c) == 0)
            c = first;
        else
            each(c);
    }
}
/* Has this stretch read all of it, and nobody written since? */
static inline bool known(const Shadow &s, const char *p, size_t bytes) {
    size_t at = (size_t)(p - s.begin), end = at + bytes;
    Stamp now = mine[threadIdx.x];
    bool same = now != 0 && at % 2 == 0;
    for (; same && at < end; at += 2) same = s.even[at / 2].read == now;
    return same;
}

/* ---- places */

static void find_variables() {
    code = race_code();
    variables = race_variables();
    if (variables.empty()) return;
    const Variable &last = variables.back();
    const char *begin = variables[0].begin;
    static_shadow = new_shadow(begin, (size_t)(last.begin + last.bytes - begin));
}

/* threadIdx and its like are registers. */
static inline bool is_index(const char *p) {
    return (size_t)(p - (const char *)&threadIdx) < sizeof threadIdx ||
           (size_t)(p - (const char *)&blockIdx) < sizeof blockIdx ||
           (size_t)(p - (const char *)&blockDim) < sizeof blockDim ||
           (size_t)(p - (const char *)&gridDim) < sizeof gridDim;
}

static void touch_shared(Shadow &s, const char *p, size_t bytes, Kind kind, uint32_t at) {
    Stamp now = own_stamp();
    bool unwritten = false;
    cells(s, p, bytes, [&](Cell &c) {
        if (kind != WRITE && (c.write & NUMBER) < block_first) unwritten = true;
        touch(c, kind, now, block_first, p, bytes, at);
    });
    if (unwritten) report(kind, p, bytes, at, "no thread of the block wrote there");
}

/* The operand that holds the bytes and allows that; NULL behind a report. */
static const Range *range_of(const char *p, size_t bytes, Kind kind) {
    const Range *found = nullptr;
    for (const Range &r : call->range)
        if (p >= r.begin && p + bytes <= r.end && (!found || r.writable)) found = &r;
    return found && (kind == READ || found->writable) ? found : nullptr;
}
static bool holds_operands(const EmulatedMemory &m) {
    for (const Range &r : call->range)
        if (r.begin < m.at + m.bytes && r.end > m.at) return true;
    return false;
}

static void touch_device(const char *p, size_t bytes, Kind kind, uint32_t at) {
    const Range *r = call ? range_of(p, bytes, kind) : nullptr;
    EmulatedMemory m;
    if (!r) {
        if (!emulate_memory(p, &m) || p + bytes > m.at + m.bytes)
            return report(kind, p, bytes, at, "that is outside of all memory");
        if (call && holds_operands(m))
            return report(kind, p, bytes, at, "that is no operand to do so with");
    }
    Shadow *s = shadow_of(p);
    if (!s) return;
    Stamp now = own_stamp();
    bool unwritten = false;
    cells(*s, p, bytes, [&](Cell &c) {
        if (r && r->fresh && kind == READ && (c.write & NUMBER) < call->since &&
            call->since >= dropped)
            unwritten = true;
        if (!(c.write | c.read)) touched += bytes / 2;
        touch(c, kind, now, 0, p, bytes, at);
    });
    if (unwritten) report(kind, p, bytes, at, "nobody wrote there in this call");
}

static void access(const void *address, size_t bytes, Kind kind, const void *from) {
    const char *p = (const char *)address;
    if ((size_t)((const char *)__builtin_frame_address(0) - stacks) >= all_stacks_bytes) return;
    if (kind == READ && (size_t)(p - dynamic_begin) < dynamic_bytes &&
        (size_t)(p - dynamic_begin) + bytes <= dynamic_bytes && known(dynamic_shadow, p, bytes))
        return;
    if (bytes == 0 || is_index(p)) return;
    if ((size_t)(p - stacks) < all_stacks_bytes) {
        if ((size_t)(p - stacks) / one_stack_bytes != threadIdx.x)
            report(kind, p, bytes, in_code(from), "that is another thread's own memory");
        return;
    }
    if ((size_t)(p - (const char *)parameters) < parameter_bytes ||
        (size_t)(p - (const char *)body) < body_bytes) {
        if (kind != READ) report(kind, p, bytes, in_code(from), "that is a parameter");
        return;
    }
    uint32_t at = in_code(from);
    if ((size_t)(p - dynamic_begin) < dynamic_bytes) {
        if ((size_t)(p - dynamic_begin) + bytes > dynamic_bytes)
            return report(kind, p, bytes, at, "that is outside of shared memory");
        return touch_shared(dynamic_shadow, p, bytes, kind, at);
    }
    if ((size_t)(p - static_shadow.begin) < static_shadow.bytes) {
        if (!variable_at(variables, p, bytes))
            return report(kind, p, bytes, at, "that is outside of shared memory");
        return touch_shared(static_shadow, p, bytes, kind, at);
    }
    touch_device(p, bytes, kind, at);
}

/* ---- what the emulated GPU tells */

RaceIssue race_issue() { return {host_call, host_call ? host_ordinal++ : 0}; }

static void begin_launch(RaceIssue issue) {
    if (touched > DROP_CELLS) {
        for (Shadow &s : shadows) {
            madvise(s.even, (s.bytes / 2 + 1) * sizeof(Cell), MADV_DONTNEED);
            madvise(s.odd, (s.bytes / 2 + 1) * sizeof(Cell), MADV_DONTNEED);
        }
        touched = 0;
        dropped = next_stamp + 1;
    }
    stretch.clear();
    turns.clear();
    launch_first = block_first = next_stamp;
    call = calls[issue.call];
    if (call && issue.ordinal == 0) call->since = launch_first;
}

void race_grid(const char *all_stacks, size_t stack_bytes, const unsigned char *shared,
               size_t shared_bytes, const void *the_body, size_t the_bytes) {
    if (!code) find_variables();
    stacks = all_stacks;
    one_stack_bytes = stack_bytes;
    all_stacks_bytes = stack_bytes * MAX_BLOCK_THREADS;
    dynamic_begin = (const char *)shared;
    dynamic_bytes = shared_bytes;
    if (!dynamic_shadow.even) dynamic_shadow = new_shadow(nullptr, SHARED_BYTES);
    dynamic_shadow.begin = dynamic_begin;
    body = the_body;
    body_bytes = the_bytes;
    parameters = kernel = nullptr;
    parameter_bytes = 0;
    begin_launch({0, 0});
}

void race_block() {
    block_first = next_stamp;
    memset(mine, 0, sizeof mine);
    memset(turn, 0, sizeof turn);
    memset(warp_turn, 0, sizeof warp_turn);
    memset(fenced, 0, sizeof fenced);
    for (Past &past : warp_past) past.clear();
}

void race_enter(const void *p, size_t bytes, const void *function, RaceIssue issue) {
    if (kernel) return;
    parameters = p;
    parameter_bytes = bytes;
    kernel = function;
    call = calls[issue.call];
    if (call && issue.ordinal == 0) call->since = launch_first;
}

void race_barrier(const void *) {
    mine[threadIdx.x] = 0;
    turn[threadIdx.x]++;
}
void race_warp_barrier() {
    mine[threadIdx.x] = 0;
    warp_turn[threadIdx.x]++;
}
void race_read(const void *p, size_t bytes, const void *at) { access(p, bytes, READ, at); }
void race_atomic(const void *p, size_t bytes, const void *at) { access(p, bytes, ATOMIC, at); }

void race_copy_begin(void *to, size_t bytes, const void *at) {
    access(to, bytes, WRITE, at);
    cells(dynamic_shadow, (const char *)to, bytes, [](Cell &c) { c.write |= UNDERWAY; });
}
void race_copy_end(void *to, size_t bytes, const void *at) {
    Stamp now = own_stamp();
    cells(dynamic_shadow, (const char *)to, bytes, [&](Cell &c) {
        c = Cell{};
        c.write = now;
        c.write_at = in_code(at);
    });
}

void race_product_read(const void *p, size_t bytes, const void *at) {
    access(p, bytes, READ, at);
    bool late = false;
    cells(dynamic_shadow, (const char *)p, bytes, [&](Cell &c) {
        Stamp write = c.write & NUMBER;
        late |= write >= block_first && write > fenced[stretch_of(write).thread];
    });
    if (late)
        report(READ, (const char *)p, bytes, in_code(at), "its writer has no shared_for_products");
}
void race_proxy_fence() {
    fenced[threadIdx.x] = next_stamp - 1;
    mine[threadIdx.x] = 0;
}

void race_turn_given(const void *turn) {
    Past &past = turns[turn];
    const Past &own = warp_past[threadIdx.x / LANES];
    for (const auto &known : own) past[known.first] = std::max(past[known.first], known.second);
    past[{blockIdx.x, threadIdx.x}] = next_stamp - 1;
}
void race_turn_taken(const void *turn) {
    Past &own = warp_past[threadIdx.x / LANES];
    for (const auto &known : turns[turn])
        own[known.first] = std::max(own[known.first], known.second);
}

void race_library(RaceIssue issue, const char *name, void *to, size_t bytes, size_t count,
                  size_t pitch) {
    if (!issue.call) return;
    begin_launch(issue);
    Stamp now = new_stamp(0, 0, 0, 0);
    for (size_t i = 0; i < count; i++) {
        const char *p = (const char *)to + i * pitch;
        Shadow *s = shadow_of(p);
        if (!range_of(p, bytes, WRITE) || !s)
            return report(WRITE, p, bytes, 0, std::string(name) + " has no such result");
        cells(*s, p, bytes, [&](Cell &c) {
            if (!(c.write | c.read)) touched += bytes / 2;
            c = Cell{};
            c.write = now;
        });
    }
}

/* ---- calls */

extern "C" {

void race_call_begin(const char *name) {
    EmulatedLock guard;
    calls.push_back(new Call{name, {}, 0});
    host_call = (uint32_t)calls.size() - 1;
    host_ordinal = 0;
}
void race_call_end(void) { host_call = 0; }

void race_call_range(const char *name, int number, const void *begin, uint64_t bytes, int how) {
    EmulatedLock guard;
    Call *c = calls[host_call];
    const char *p = (const char *)begin, *end = p + bytes;
    bool fresh = how != RACE_INPUT;
    for (const Range &r : c->range)
        if (how == RACE_OUTPUT && r.begin < end && r.end > p) fresh = false;
    std::string text = name;
    if (number >= 0) text += " " + std::to_string(number);
    c->range.push_back({p, end, how != RACE_INPUT, fresh, text});
}

/* ---- the compiler's hooks */

#define HOOKS(bytes)                                                                               \
    void __tsan_read##bytes(void *p) { access(p, bytes, READ, __builtin_return_address(0)); }      \
    void __tsan_write##bytes(void *p) { access(p, bytes, WRITE, __builtin_return_address(0)); }    \
    void __tsan_unaligned_read##bytes(void *p) {                                                   \
        access(p, bytes, READ, __builtin_return_address(0));                                       \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *p) {                                                  \
        access(p, bytes, WRITE, __builtin_return_address(0));                                      \
    }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __tsan_read_range(void *p, size_t n) { access(p, n, READ, __builtin_return_address(0)); }
void __tsan_write_range(void *p, size_t n) { access(p, n, WRITE, __builtin_return_address(0)); }
void __tsan_vptr_update(void **p, void *) {
    access(p, sizeof *p, WRITE, __builtin_return_address(0));
}
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}

struct Source {
    const char *file;
    uint32_t line, column;
};
struct Mismatch {
    Source at;
    const void *type;
    unsigned char log_alignment, kind;
};
void __ubsan_handle_type_mismatch_v1(Mismatch *m, void *p) {
    if ((size_t)((const char *)__builtin_frame_address(0) - stacks) >= all_stacks_bytes) return;
    report(READ, (const char *)p, (size_t)1 << m->log_alignment,
           in_code(__builtin_return_address(0)),
           "that is not aligned to " + std::to_string(1 << m->log_alignment) + " bytes");
    finish(); /* as on a GPU nothing comes behind it */
}

} /* extern "C" */
