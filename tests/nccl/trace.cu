/* Records the calls of fsdp-run's modules to the CUDA runtime and to NCCL, one line per call, in
 * order, in FSDP_FAKE_TRACE/PROCESS-ID; read by calls.py.
 *
 *     S, L, C, R, W, B, E, G     as in tests/gpu/record.cu; G with the graph's address
 *     D - graph                  a graph that could be launched is destroyed
 *     I comm of parent rank r members a,b,.. device d blocking b share s ctas n policy p
 *                                a communicator is created, by ncclCommInitRank or ncclCommSplit
 *     Q comm window|buffer address bytes, U comm
 *                                memory is registered, unregistered
 *     K comm kind stream count dtype op o root r in address out address group g
 *                                a collective
 *     Z comm finalize|destroy registrations|abort
 */
#include "emulate_streams.h"
#include "fake.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unistd.h>

static FILE *trace() {
    static FILE *file;
    const char *folder = getenv("FSDP_FAKE_TRACE");
    if (!file && folder)
        file = fopen((std::string(folder) + "/" + std::to_string(getpid())).c_str(), "w");
    return file;
}

void fake_tell(const char *format, ...) {
    FILE *f = trace();
    if (!f) return;
    va_list args;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    fputc('\n', f);
    fflush(f);
}

static std::map<const void *, int> &number = *new std::map<const void *, int>;
int fake_stream_number(const void *stream) {
    auto found = number.find(stream);
    return found == number.end() ? -1 : found->second;
}

static void watch(char kind, cudaStream_t stream, const void *object, const char *detail) {
    if (kind == 'S') {
        int n = (int)number.size();
        number[stream] = n;
    }
    if (kind == 'D')
        fake_tell("D - %p", object);
    else if (object)
        fake_tell("%c %d %p", kind, fake_stream_number(stream), object);
    else
        fake_tell("%c %d %s", kind, fake_stream_number(stream), detail);
}

__attribute__((constructor)) static void begin_watching() { emulate_watch = watch; }
