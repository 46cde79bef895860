/* A GPU's blocks and threads on the CPU: runs each kernel that emulate_streams.cu starts.
 *
 * A block's threads are fibers, resumed in ascending or (odd seeds) descending order, which reveals
 * missing barriers. Threads that wait for each other for ever, warps that meet incompletely and
 * launches with impossible sizes end the process with a message. A background copy (cp.async)
 * arrives as late as possible: when its thread waits for its group, which it must do before it
 * ends. The same holds for products of a warpgroup (wgmma), whose operands may not change until
 * then. Blocks run one after the other; with FSDP_EMULATE_BLOCKS=shuffled each launch uses another
 * order.
 *
 * Only x86-64, whose registers a fiber saves.
 */
#include "emulate.h"

#include "emulate_streams.h"
#include "emulate_warpgroup.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sys/mman.h>
#include <vector>

/* Stacks lie at other places of the caches each: a switch finds its own there. */
enum { STACK_BYTES = (128 << 10) + 9 * 64, LANES = 32, COPY_BYTES = 16 };

void emulate_fail(const char *what) {
    fprintf(stderr, "emulated GPU: %s (block %u, thread %u)\n", what, blockIdx.x, threadIdx.x);
    abort();
}

static bool descending;
void emulate_order(bool wanted) { descending = wanted; }

/* ---- fibers */

EmulatedIndex threadIdx, blockIdx, blockDim, gridDim;

struct Fiber {
    void *stack_pointer;
    bool done, begun;               /* begun: has called begin_kernel */
    unsigned warp_turn, block_turn; /* meetings that this thread has come to */
};
struct Copy {
    void *to;
    const void *from; /* NULL: zeros */
};
/* A thread's copies, in order, and how many of them each group ends with. */
struct Copies {
    std::vector<Copy> copy;
    std::vector<size_t> group;
    size_t copies_there, groups_there;
};
/* What a thread has of a product: two rows of the left operand, 16 columns of the right one. */
struct Product {
    EmulatedProduct what;
    float left[2][16], right[16][16];
};
struct Hidden {
    unsigned products; /* that are on their way to these sums */
    float sum[32];
};
struct Products {
    std::vector<Product> product;
    std::vector<size_t> group;
    size_t products_there, groups_there;
    bool fenced;
    std::map<float *, Hidden> sums;
};
struct Block {
    Fiber fiber[MAX_BLOCK_THREADS];
    Copies copies[MAX_BLOCK_THREADS];
    Products products[MAX_BLOCK_THREADS];
    unsigned threads, alive, at_barrier, block_turn;
    unsigned at_warp[MAX_BLOCK_THREADS / LANES], warp_turn[MAX_BLOCK_THREADS / LANES];
    std::vector<unsigned char> exchange[MAX_BLOCK_THREADS / LANES][2];
    char *stacks;
    unsigned char *shared;
    size_t shared_bytes;
    const std::function<void()> *body;
    void *scheduler;
    bool progress, asynchronous; /* asynchronous: there were copies or products */
};
static Block &block = *new Block(); /* stays until the process is gone: streams run in a thread */

/* Saves the registers that a function must keep on the old stack and takes those of the new. */
extern "C" void emulate_switch(void **save, void *load);
asm(".text\n.globl emulate_switch\n.hidden emulate_switch\n"
    "emulate_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

static void leave_fiber() {
    emulate_switch(&block.fiber[threadIdx.x].stack_pointer, block.scheduler);
}
void begin_kernel() { block.fiber[threadIdx.x].begun = true; }
void emulate_end_kernel() {
    if (!block.fiber[threadIdx.x].begun) emulate_fail("a kernel has no begin_kernel");
}
static void check_waited() {
#ifndef FSDP_RACE /* which goes on, and says where what is on its way was read */
    const Copies &c = block.copies[threadIdx.x];
    if (c.copies_there < c.copy.size()) emulate_fail("cp.async: a thread ended without waiting");
#endif
    const Products &p = block.products[threadIdx.x];
    if (p.products_there < p.product.size()) emulate_fail("wgmma: a thread ended without waiting");
}
static void fiber_main() {
    (*block.body)();
    if (block.asynchronous) check_waited();
    block.fiber[threadIdx.x].done = true;
    block.alive--;
    block.progress = true;
    leave_fiber();
    emulate_fail("a finished thread was resumed");
}

void emulate_block_barrier(const void *at) {
    Fiber *f = &block.fiber[threadIdx.x];
    f->block_turn++;
    block.at_barrier++;
    block.progress = true;
    while (f->block_turn > block.block_turn) {
        if (block.at_barrier == block.alive) {
            block.at_barrier = 0;
            block.block_turn++;
            block.progress = true;
        } else {
            leave_fiber();
        }
    }
    race_barrier(at);
}

const void *emulate_warp_exchange(const void *mine, size_t bytes) {
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    Fiber *f = &block.fiber[threadIdx.x];
    std::vector<unsigned char> &v = block.exchange[warp][f->warp_turn % 2];
    if (v.size() < bytes * LANES) v.resize(bytes * LANES);
    memcpy(&v[bytes * lane], mine, bytes);
    f->warp_turn++;
    block.progress = true;
    if (++block.at_warp[warp] == LANES) {
        block.at_warp[warp] = 0;
        block.warp_turn[warp]++;
    }
    while (block.warp_turn[warp] < f->warp_turn) leave_fiber();
    return &v[0];
}

void emulate_warp_barrier() {
    char nothing = 0;
    emulate_warp_exchange(&nothing, sizeof nothing);
    race_warp_barrier();
}

void emulate_copy_begin(void *shared, const void *from, bool present, const void *at) {
    if ((uintptr_t)shared % COPY_BYTES != 0 || (uintptr_t)from % COPY_BYTES != 0)
        emulate_fail("cp.async: an address is not aligned to 16 bytes");
    if (!emulate_in_shared(shared, COPY_BYTES)) emulate_fail("cp.async: outside of shared memory");
    if (present) race_read(from, COPY_BYTES, at);
    race_copy_begin(shared, COPY_BYTES, at);
    memset(shared, 0xff, COPY_BYTES);
    block.asynchronous = true;
    block.copies[threadIdx.x].copy.push_back({shared, present ? from : nullptr});
}
void emulate_copy_commit() {
    Copies &c = block.copies[threadIdx.x];
    block.asynchronous = true;
    c.group.push_back(c.copy.size());
}
void emulate_copy_wait(unsigned pending, const void *at) {
    Copies &c = block.copies[threadIdx.x];
    for (; c.groups_there + pending < c.group.size(); c.groups_there++)
        for (; c.copies_there < c.group[c.groups_there]; c.copies_there++) {
            Copy copy = c.copy[c.copies_there];
            race_copy_end(copy.to, COPY_BYTES, at);
            if (copy.from)
                memcpy(copy.to, copy.from, COPY_BYTES);
            else
                memset(copy.to, 0, COPY_BYTES);
        }
}

/* ---- products of a warpgroup */

/* Where number (row, k) of an operand is, row being one of 64 rows or columns of the product, as
 * the manual describes matrix descriptors and the 128-byte swizzle. */
static const uint16_t *number_at(uint64_t operand, bool turned, unsigned row, unsigned k) {
    uint32_t at = (uint32_t)(operand & 0x3fff) << 4, eight = (uint32_t)(operand >> 32 & 0x3fff)
                                                             << 4;
    if (operand >> 62 != 1 || (operand >> 49 & 7))
        emulate_fail("wgmma: not a swizzle of 128 bytes");
    at += turned ? k / 8 * eight + k % 8 * 128 + row * 2 : row / 8 * eight + row % 8 * 128 + k * 2;
    at ^= (at >> 7 & 7) << 4;
    const unsigned char *p = block.shared + (at - (uintptr_t)block.shared % 1024);
    if (!emulate_in_shared(p, 2)) emulate_fail("wgmma: an operand outside of shared memory");
    return (const uint16_t *)p;
}

/* A warp tells of all that it reads, each lane of a part. */
static void tell_of_operands(const EmulatedProduct &p, const void *at) {
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES % 4;
    for (unsigned i = lane; i < 128; i += LANES)
        race_product_read(p.right_turned ? number_at(p.right, true, i % 8 * 8, i / 8)
                                         : number_at(p.right, false, i / 2, i % 2 * 8),
                          16, at);
    if (p.in_registers) return;
    race_product_read(p.left_turned ? number_at(p.left, true, 16 * warp + lane % 2 * 8, lane / 2)
                                    : number_at(p.left, false, 16 * warp + lane / 2, lane % 2 * 8),
                      16, at);
}

static void read_operands(Product *x) {
    const EmulatedProduct &p = x->what;
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES % 4;
    for (unsigned y = 0; y < 2 && !p.in_registers; y++)
        for (unsigned k = 0; k < 16; k++)
            x->left[y][k] = emulate_half<DT_BF16>(
                *number_at(p.left, p.left_turned, 16 * warp + lane / 4 + 8 * y, k), 0);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < 16; k++)
            x->right[i][k] = emulate_half<DT_BF16>(
                *number_at(p.right, p.right_turned, i / 2 * 8 + 2 * (lane % 4) + i % 2, k), 0);
}

void emulate_product(const EmulatedProduct &p, const void *at) {
    Products &own = block.products[threadIdx.x];
    const EmulatedProduct *all = (const EmulatedProduct *)emulate_warp_exchange(&p, sizeof p);
    unsigned lane = threadIdx.x % LANES;
    if (lane == 0 && emulate_code() != 90) emulate_fail("wgmma: this GPU has none");
    if (block.threads % (4 * LANES)) emulate_fail("wgmma: threads that are no warpgroup");
    if (!own.fenced) emulate_fail("wgmma: no fence after registers were touched");
    if (all[0].left != p.left || all[0].right != p.right)
        emulate_fail("wgmma: lanes have different operands");
    Product x = {p, {}, {}};
    for (unsigned y = 0; y < 2 && p.in_registers; y++)
        for (unsigned k = 0; k < 16; k++)
            x.left[y][k] =
                emulate_half<DT_BF16>(all[lane / 4 * 4 + k / 2 % 4].left_numbers[y + k / 8 * 2], k);
    read_operands(&x);
    tell_of_operands(p, at);
    Hidden &h = own.sums[p.d];
    if (h.products++ == 0) {
        memcpy(h.sum, p.d, sizeof h.sum);
        memset(p.d, 0xff, sizeof h.sum);
    }
    own.product.push_back(x);
}
void emulate_product_fence() {
    block.asynchronous = true;
    block.products[threadIdx.x].fenced = true;
}
void emulate_product_commit() {
    Products &own = block.products[threadIdx.x];
    own.group.push_back(own.product.size());
}

static void finish_product(Products *own, Product *x, const void *at) {
    Product again = *x;
    read_operands(&again);
    tell_of_operands(x->what, at);
    if (memcmp(again.left, x->left, sizeof x->left) ||
        memcmp(again.right, x->right, sizeof x->right))
        emulate_fail("wgmma: an operand changed before the product was waited for");
    Hidden &h = own->sums[x->what.d];
    for (unsigned i = 0; i < 32; i++) {
        float sum = x->what.add ? h.sum[i] : 0.0f;
        for (unsigned k = 0; k < 16; k++)
            sum += x->left[i / 2 % 2][k] * x->right[i / 4 * 2 + i % 2][k];
        h.sum[i] = sum;
    }
    if (--h.products > 0) return;
    memcpy(x->what.d, h.sum, sizeof h.sum);
    own->sums.erase(x->what.d);
}
void emulate_product_wait(unsigned pending, const void *at) {
    Products &own = block.products[threadIdx.x];
    for (; own.groups_there + pending < own.group.size(); own.groups_there++)
        for (; own.products_there < own.group[own.groups_there]; own.products_there++)
            finish_product(&own, &own.product[own.products_there], at);
    own.fenced = false;
    if (own.products_there < own.product.size()) return;
    own.product.clear();
    own.group.clear();
    own.products_there = own.groups_there = 0;
}

unsigned char *emulate_shared() { return block.shared; }
bool emulate_in_shared(const void *p, size_t bytes) {
    const unsigned char *at = (const unsigned char *)p;
    return at >= block.shared && at + bytes <= block.shared + block.shared_bytes;
}

static void start_fiber(unsigned i) {
    void **top = (void **)(block.stacks + (size_t)(i + 1) * STACK_BYTES - 64);
    *--top = NULL; /* fiber_main's return address: never used; keeps the stack aligned */
    *--top = (void *)fiber_main;
    for (int r = 0; r < 6; r++) *--top = NULL;
    block.fiber[i] = Fiber{top, false, false, 0, 0};
}

static void forget_copies(unsigned i) {
    Copies &c = block.copies[i];
    c.copy.clear();
    c.group.clear();
    c.copies_there = c.groups_there = 0;
    Products &p = block.products[i];
    p.product.clear();
    p.group.clear();
    p.sums.clear();
    p.products_there = p.groups_there = 0;
    p.fenced = false;
}

/* Has ended, or would only look and leave again. */
static bool waits(unsigned i) {
    const Fiber &f = block.fiber[i];
    return f.done || block.warp_turn[i / LANES] < f.warp_turn ||
           (f.block_turn > block.block_turn && block.at_barrier != block.alive);
}

static void run_block(unsigned number) {
    blockIdx.x = number;
    block.alive = block.threads;
    block.at_barrier = block.block_turn = 0;
    memset(block.at_warp, 0, sizeof block.at_warp);
    memset(block.warp_turn, 0, sizeof block.warp_turn);
    if (block.shared_bytes) memset(block.shared, 0xff, block.shared_bytes);
    race_block();
    for (unsigned i = 0; i < block.threads; i++) start_fiber(i);
    for (unsigned i = 0; i < MAX_BLOCK_THREADS && block.asynchronous; i++) forget_copies(i);
    block.asynchronous = false;
    while (block.alive > 0) {
        block.progress = false;
        for (unsigned k = 0; k < block.threads; k++) {
            unsigned i = descending ? block.threads - 1 - k : k;
            if (waits(i)) continue;
            threadIdx.x = i;
            emulate_switch(&block.scheduler, block.fiber[i].stack_pointer);
        }
        if (!block.progress && block.alive > 0) emulate_fail("threads wait for each other");
    }
}

static std::vector<unsigned> block_order(unsigned blocks) {
    static std::minstd_rand random;
    std::vector<unsigned> order(blocks);
    for (unsigned i = 0; i < blocks; i++) order[i] = descending ? blocks - 1 - i : i;
    const char *wish = getenv("FSDP_EMULATE_BLOCKS");
    if (wish && !strcmp(wish, "shuffled")) std::shuffle(order.begin(), order.end(), random);
    return order;
}

void emulate_grid(unsigned blocks, unsigned threads, size_t shared,
                  const std::function<void()> &body) {
    if (!block.stacks)
        block.stacks =
            (char *)mmap(NULL, (size_t)MAX_BLOCK_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block.stacks == MAP_FAILED) emulate_fail("no memory for stacks");
    block.threads = threads;
    block.shared = shared ? (unsigned char *)aligned_alloc(16, (shared + 15) / 16 * 16) : NULL;
    block.shared_bytes = shared;
    block.body = &body;
    blockDim = {threads, 1, 1};
    gridDim = {blocks, 1, 1};
    race_grid(block.stacks, STACK_BYTES, block.shared, shared, &body, sizeof body);
    for (unsigned i : block_order(blocks)) run_block(i);
    free(block.shared);
}
