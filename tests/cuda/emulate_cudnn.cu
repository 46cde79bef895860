/* Replaces cuDNN on the emulated GPU: takes descriptors like the library and executes an operation
 * graph, one operation after the other, on dense f32 arrays. It knows nothing about attention, so a
 * graph that computes attention here is correct.
 *
 * FSDP_EMULATE_CUDNN: unset, there is no such library. right: it works. wrong: matrix products lose
 * their last term. unsteady: results differ by a rounding from run to run. partial: the last row of
 * a result is not written. fails: plans are made but do not run. greedy: plans need more scratch
 * than there is. fast: each run takes half of the time of the last kernel. Each execution is a line
 * "cudnn" in the output of the emulated GPU.
 *
 * Checked strictly: attributes have the type and count of the library's header, nothing is set
 * after finalize or used before it, tensors in memory have their alignment, every tensor in memory
 * and every scalar has an address, and the scratch that a plan asked for is filled with NaNs when
 * it runs. A graph has each name once and makes each inner tensor before it is used; operations
 * have the operands that they take; plans exist for what the front end of the library accepts on
 * Hopper (bf16 heads with a width that is a multiple of 8, strides of 16 bytes, more than one
 * position); they run on the handle for which they were made, once it has a stream, with exactly
 * the operands of the graph, none of which overlaps the scratch.
 */
#include "emulate_cudnn_descriptors.h"
#include "emulate_cudnn_execution.h"

namespace {

/* Every tensor of the graph, each once. */
std::map<int64_t, const Descriptor *> tensors_of(const Descriptor *graph) {
    std::map<int64_t, const Descriptor *> all;
    const Attribute &ops = graph->attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    for (int64_t i = 0; i < ops.n; i++)
        for (auto &pair : ((Descriptor *const *)ops.bytes.data())[i]->attributes)
            if (pair.second.type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
                const Descriptor *t = *(Descriptor *const *)pair.second.bytes.data();
                if (t->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
                    all[get<int64_t>(t, CUDNN_ATTR_TENSOR_UNIQUE_ID)] = t;
            }
    return all;
}

/* What the library asks for: bf16 scores of the largest inner tensor, where a result is written
 * beside sums that are in memory. */
int64_t scratch_of(const Descriptor *graph) {
    int64_t bytes = 0;
    bool backward = false;
    for (auto &pair : tensors_of(graph)) {
        Shape s = shape_of(pair.second);
        backward |= pair.first == UID_SUMS;
        bytes = std::max(bytes, 2 * s.dim[0] * s.dim[1] * (int64_t)align_up(s.dim[2], 64) *
                                    (int64_t)align_up(s.dim[3], 64));
    }
    return mode_is("greedy") ? INT64_C(1) << 40 : 256 + (backward ? bytes : 0);
}

/* ---- what a graph and its operations must be */

bool is_tensor(const Descriptor *d) { return d && d->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR; }

const char *wrong_tensor(const Descriptor *d) {
    Shape s = shape_of(d);
    int64_t alignment = get<int64_t>(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    if (alignment < 1 || (alignment & (alignment - 1))) return "an alignment is no power of two";
    for (int axis = 0; axis < 4; axis++)
        if (s.dim[axis] < 1 || s.stride[axis] < 1) return "a size or a stride is not positive";
    if (get<bool>(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL) && get<bool>(d, CUDNN_ATTR_TENSOR_IS_BY_VALUE))
        return "a tensor is inside and from the host";
    return nullptr;
}

const char *wrong_pointwise(const Descriptor *d) {
    const Descriptor *how = link(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    auto mode = get<cudnnPointwiseMode_t>(how, CUDNN_ATTR_POINTWISE_MODE);
    bool one = mode == CUDNN_POINTWISE_EXP || mode == CUDNN_POINTWISE_LOG ||
               mode == CUDNN_POINTWISE_GEN_INDEX;
    bool three = mode == CUDNN_POINTWISE_BINARY_SELECT;
    if (one == (link(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) != nullptr) ||
        three != (link(d, CUDNN_ATTR_OPERATION_POINTWISE_TDESC) != nullptr))
        return "a pointwise operation has other operands than it takes";
    return nullptr;
}

const char *wrong_index(const Descriptor *mode) {
    int64_t axis = get<int64_t>(mode, CUDNN_ATTR_POINTWISE_AXIS, -1);
    bool index =
        get<cudnnPointwiseMode_t>(mode, CUDNN_ATTR_POINTWISE_MODE) == CUDNN_POINTWISE_GEN_INDEX;
    return index && (axis < 0 || axis > 3) ? "an index along no axis" : nullptr;
}

int result_name(const Descriptor *operation) {
    switch (operation->type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return CUDNN_ATTR_OPERATION_MATMUL_CDESC;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return CUDNN_ATTR_OPERATION_REDUCTION_YDESC;
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: return CUDNN_ATTR_OPERATION_RESHAPE_YDESC;
    default: return CUDNN_ATTR_OPERATION_POINTWISE_YDESC;
    }
}

const char *wrong_graph(const Descriptor *graph) {
    const Attribute &ops = graph->attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    std::map<int64_t, const Descriptor *> named;
    std::set<const Descriptor *> made;
    for (int64_t i = 0; i < ops.n; i++) {
        const Descriptor *operation = ((Descriptor *const *)ops.bytes.data())[i];
        int result = result_name(operation);
        for (auto &pair : operation->attributes) {
            const Descriptor *t = pair.second.type == CUDNN_TYPE_BACKEND_DESCRIPTOR
                                      ? link(operation, pair.first)
                                      : nullptr;
            if (!is_tensor(t)) continue;
            auto entry = named.insert({get<int64_t>(t, CUDNN_ATTR_TENSOR_UNIQUE_ID), t});
            if (entry.first->second != t) return "two tensors have one name";
            if (pair.first != result && get<bool>(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
                !made.count(t))
                return "an inner tensor is used before it is made";
        }
        if (!made.insert(link(operation, result)).second) return "a tensor is made twice";
    }
    return nullptr;
}

/* Is there an engine on Hopper? */
bool has_engine(const Descriptor *graph) {
    for (auto &pair : tensors_of(graph)) {
        const Descriptor *t = pair.second;
        Shape s = shape_of(t);
        if (get<bool>(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL) ||
            get<bool>(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE))
            continue;
        auto type = get<cudnnDataType_t>(t, CUDNN_ATTR_TENSOR_DATA_TYPE);
        bool sums = pair.first == UID_LSE || pair.first == UID_SUMS;
        if (type != (sums ? CUDNN_DATA_FLOAT : CUDNN_DATA_BFLOAT16)) return false;
        if (sums ? s.stride[2] != 1 || s.stride[1] != s.dim[2] : false) return false;
        if (sums) continue;
        int within = s.stride[3] == 1 ? 3 : 2; /* the axis along a head */
        int64_t positions = s.dim[5 - within];
        if (s.stride[within] != 1 || s.dim[within] % 8 || s.dim[within] > 256 || positions < 2)
            return false;
        for (int axis = 0; axis < 4; axis++)
            if (axis != within && s.stride[axis] % 8) return false;
    }
    return true;
}

/* ---- the library's functions */

size_t version(void) { return CUDNN_OLDEST; }
const char *error_string(cudnnStatus_t s) { return s ? "an error" : "success"; }
void last_error(char *message, size_t bytes) { snprintf(message, bytes, "%s", complaint.c_str()); }
cudnnStatus_t create(cudnnHandle_t *h) {
    *h = open_handle = (cudnnHandle_t)malloc(1);
    has_stream = false;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t destroy(cudnnHandle_t h) {
    free(h);
    open_handle = nullptr;
    if (!alive.empty()) emulate_fail("cuDNN: descriptors outlive the handle");
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_stream(cudnnHandle_t h, cudaStream_t s) {
    if (!h || h != open_handle) return complain("a handle that is not open");
    stream = s;
    has_stream = true;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *out) {
    Descriptor *d = new Descriptor{type, false, {}, 0};
    alive.insert(d);
    *out = d;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t destroy_descriptor(cudnnBackendDescriptor_t d) {
    if (!alive.erase((Descriptor *)d)) return complain("destroying what does not exist");
    delete (Descriptor *)d;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t finalize(cudnnBackendDescriptor_t opaque) {
    Descriptor *d = inside(opaque);
    if (!d || d->final) return complain("finalize");
    for (const Wanted &w : wanted)
        if (w.of == d->type && !d->attributes.count(w.name))
            return complain("attribute " + std::to_string(w.name) + " is missing");
    const char *wrong = nullptr;
    if (d->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) wrong = wrong_tensor(d);
    if (d->type == CUDNN_BACKEND_POINTWISE_DESCRIPTOR) wrong = wrong_index(d);
    if (d->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) wrong = wrong_pointwise(d);
    if (d->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) wrong = wrong_graph(d);
    if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
        !has_engine(link(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)))
        wrong = "no engine for this graph";
    if (d->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR &&
        d->attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).n !=
            d->attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).n)
        wrong = "as many names as addresses are wanted";
    if (wrong) return complain(wrong);
    d->final = true;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set(cudnnBackendDescriptor_t opaque, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t n, const void *from) {
    Descriptor *d = inside(opaque);
    if (!d || d->final || n < 1 || !from) return complain("a value out of place");
    for (const Wanted &w : wanted)
        if (w.of == d->type && w.name == name && (w.type != type || (w.n && w.n != n)))
            return complain("attribute " + std::to_string(name) + " has another type or count");
    const uint8_t *bytes = (const uint8_t *)from;
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < n; i++) {
        Descriptor *x = inside(((Descriptor *const *)from)[i]);
        bool settings = x && x->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
        if (!x || (!x->final && !settings)) return complain("a descriptor that is not final");
    }
    d->attributes[name] = {type, n, {bytes, bytes + (size_t)n * size_of(type)}};
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t get_attribute(cudnnBackendDescriptor_t opaque, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t room, int64_t *n, void *to) {
    Descriptor *d = inside(opaque);
    *n = 1;
    if (!d) return complain("reading what does not exist");
    bool number =
        name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX || name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE;
    bool note = name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE;
    if (room < 1 || type != (number ? CUDNN_TYPE_INT64
                             : note ? CUDNN_TYPE_NUMERICAL_NOTE
                                    : CUDNN_TYPE_BACKEND_DESCRIPTOR))
        return complain("an attribute of another type");
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
        for (*n = 0; *n < CONFIGS && *n < room; ++*n) {
            Descriptor *x = inside(((cudnnBackendDescriptor_t *)to)[*n]);
            x->engine = *n + 1;
            Descriptor *graph = link(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
            x->attributes[name] = {
                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {(uint8_t *)&graph, (uint8_t *)(&graph + 1)}};
        }
    } else if (name == CUDNN_ATTR_ENGINECFG_ENGINE) {
        inside(*(cudnnBackendDescriptor_t *)to)->engine = d->engine;
    } else if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX) {
        *(int64_t *)to = d->engine;
    } else if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
        /* the second engine says of itself that its order of sums is not fixed */
        *(cudnnBackendNumericalNote_t *)to = d->engine == CONFIGS
                                                 ? CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
                                                 : CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    } else if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && d->final) {
        const Descriptor *settings = link(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
        *(int64_t *)to = scratch_of(link(settings, CUDNN_ATTR_ENGINEHEUR_RESULTS));
    } else {
        return complain("an attribute that nobody has");
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Bytes from the first to behind the last element. */
int64_t extent(const Descriptor *t) {
    Shape s = shape_of(t);
    bool bf16 = get<cudnnDataType_t>(t, CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_BFLOAT16;
    return (in_memory(s, elements(s) - 1) + 1) * (bf16 ? 2 : 4);
}

cudnnStatus_t execute(cudnnHandle_t handle, cudnnBackendDescriptor_t opaque_plan,
                      cudnnBackendDescriptor_t opaque_pack) {
    const Descriptor *plan = inside(opaque_plan), *pack = inside(opaque_pack);
    if (!plan || !pack || !plan->final || !pack->final) return complain("not final");
    if (!handle || get<cudnnHandle_t>(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE) != handle)
        return complain("a plan of another handle");
    if (!has_stream) return complain("a handle without a stream");
    if (mode_is("fails")) return complain("this library never runs anything");
    const Descriptor *graph =
        link(link(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_ATTR_ENGINEHEUR_RESULTS);
    const Attribute &uids = pack->attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const Attribute &places = pack->attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    auto e = std::make_shared<Execution>();
    e->run = runs++;
    auto tensors = tensors_of(graph);
    char *scratch = (char *)get<void *>(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    int64_t bytes = scratch_of(graph);
    for (int64_t i = 0; i < uids.n; i++) {
        int64_t uid = ((const int64_t *)uids.bytes.data())[i];
        char *at = ((char *const *)places.bytes.data())[i];
        if (!tensors.count(uid)) return complain("an operand that the graph does not have");
        if (!at || !e->address.insert({uid, at}).second)
            return complain("an operand without an address, or with two");
    }
    for (auto &pair : tensors) {
        const Descriptor *t = pair.second;
        if (get<bool>(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL)) continue;
        if (!e->address.count(pair.first)) return complain("an operand without an address");
        bool scalar = get<bool>(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
        int64_t alignment = get<int64_t>(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
        if (scalar) /* read now: the host's memory is the caller's again when this returns */
            e->inner[t] = {*(const float *)e->address[pair.first]};
        else if ((uintptr_t)e->address[pair.first] % (size_t)alignment != 0)
            return complain("an operand that is not aligned");
        else if (char *at = e->address[pair.first];
                 at < scratch + bytes && scratch < at + extent(t))
            return complain("scratch that an operand lies in");
    }
    if ((uintptr_t)scratch % SCRATCH_ALIGN != 0) return complain("scratch that is not aligned");
    if (mode_is("fast")) emulated_ms /= 2;
    emulate_launch(stream, "cudnn", 1, 1, 0, [=] {
        memset(scratch, 0xff, (size_t)bytes);
        Execution(*e).all(graph);
    });
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

extern "C" int cudnn_library_open(Cudnn *out, char *why) {
    if (!getenv("FSDP_EMULATE_CUDNN")) return fail_with(why, 1, "the emulated GPU has no cuDNN");
    *out = {version,           error_string,       last_error, create, destroy,       set_stream,
            create_descriptor, destroy_descriptor, finalize,   set,    get_attribute, execute};
    return 0;
}
