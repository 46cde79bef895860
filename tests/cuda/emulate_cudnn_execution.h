/* How the emulated cuDNN executes an operation graph: one operation after the other, on dense f32
 * arrays; for emulate_cudnn.cu. */
#ifndef FSDPC_TESTS_CUDA_EMULATE_CUDNN_EXECUTION_H
#define FSDPC_TESTS_CUDA_EMULATE_CUDNN_EXECUTION_H

#include "emulate_cudnn_descriptors.h"

namespace {

typedef std::vector<float> Values;
struct Shape {
    int64_t dim[4], stride[4];
};
Shape shape_of(const Descriptor *tensor) {
    Shape s;
    memcpy(s.dim, tensor->attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS).bytes.data(), sizeof s.dim);
    memcpy(s.stride, tensor->attributes.at(CUDNN_ATTR_TENSOR_STRIDES).bytes.data(),
           sizeof s.stride);
    return s;
}
int64_t elements(const Shape &s) { return s.dim[0] * s.dim[1] * s.dim[2] * s.dim[3]; }
/* The dense place in a tensor of shape s that element i of one of shape `of` meets; axes of length
 * 1 are repeated. */
int64_t meets(const Shape &s, const Shape &of, int64_t i) {
    int64_t at = 0, step = 1;
    for (int axis = 3; axis >= 0; axis--, i /= of.dim[axis + 1]) {
        int64_t index = i % of.dim[axis];
        at += s.dim[axis] == 1 ? 0 : index * step;
        step *= s.dim[axis];
    }
    return at;
}
int64_t in_memory(const Shape &s, int64_t i) {
    int64_t at = 0;
    for (int axis = 3; axis >= 0; axis--) {
        at += i % s.dim[axis] * s.stride[axis];
        i /= s.dim[axis];
    }
    return at;
}

float rounded(float x, cudnnDataType_t type) {
    if (type != CUDNN_DATA_BFLOAT16 || x != x) return x;
    uint32_t bits = __float_as_uint(x);
    return __uint_as_float((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

struct Execution {
    std::map<int64_t, char *> address;
    std::map<const Descriptor *, Values> inner;
    int run;

    Values load(const Descriptor *t) {
        auto found = inner.find(t);
        if (found != inner.end()) return found->second;
        Shape s = shape_of(t);
        Values x((size_t)elements(s));
        const char *from = address.at(get<int64_t>(t, CUDNN_ATTR_TENSOR_UNIQUE_ID));
        bool bf16 = get<cudnnDataType_t>(t, CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_BFLOAT16;
        for (size_t i = 0; i < x.size(); i++) {
            int64_t at = in_memory(s, (int64_t)i);
            x[i] = bf16 ? __uint_as_float((uint32_t)((const uint16_t *)from)[at] << 16)
                        : ((const float *)from)[at];
        }
        return x;
    }
    void store(const Descriptor *t, Values x) {
        Shape s = shape_of(t);
        auto type = get<cudnnDataType_t>(t, CUDNN_ATTR_TENSOR_DATA_TYPE);
        for (float &y : x) y = rounded(y, type);
        if (get<bool>(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL)) {
            inner[t] = x;
            return;
        }
        char *to = address.at(get<int64_t>(t, CUDNN_ATTR_TENSOR_UNIQUE_ID));
        bool unsteady = mode_is("unsteady");
        size_t n = x.size() - (mode_is("partial") ? (size_t)s.dim[3] : 0);
        for (size_t i = 0; i < n; i++) {
            int64_t at = in_memory(s, (int64_t)i);
            uint32_t bits = __float_as_uint(x[i]);
            if (unsteady && i == n / 2 && run % 2) bits ^= 1u << 16;
            if (type == CUDNN_DATA_BFLOAT16)
                ((uint16_t *)to)[at] = (uint16_t)(bits >> 16);
            else
                memcpy(to + 4 * at, &bits, 4);
        }
    }

    void product(const Descriptor *d) {
        const Descriptor *a = link(d, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
        const Descriptor *b = link(d, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
        const Descriptor *c = link(d, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
        Shape sa = shape_of(a), sb = shape_of(b), sc = shape_of(c);
        Values x = load(a), y = load(b), z((size_t)elements(sc));
        int64_t depth = sa.dim[3], multiplied = depth - mode_is("wrong"), columns = sc.dim[3],
                rows = sc.dim[2];
        if (sb.dim[2] != depth || sb.dim[3] != columns || sa.dim[2] != rows)
            emulate_fail("cuDNN: sizes of a product do not fit");
        for (int64_t i = 0; i < (int64_t)z.size(); i++) {
            int64_t head = i / columns / rows % sc.dim[1], batch = i / columns / rows / sc.dim[1];
            int64_t row = i / columns % rows, column = i % columns;
            /* fewer heads on one side: neighbours share them */
            int64_t ha = head / (sc.dim[1] / sa.dim[1]), hb = head / (sc.dim[1] / sb.dim[1]);
            const float *p = &x[(size_t)(((batch * sa.dim[1] + ha) * rows + row) * depth)];
            const float *q = &y[(size_t)((batch * sb.dim[1] + hb) * depth * columns + column)];
            float sum = 0;
            for (int64_t k = 0; k < multiplied; k++) sum += p[k] * q[k * columns];
            z[(size_t)i] = sum;
        }
        store(c, z);
    }

    void reduce(const Descriptor *d) {
        const Descriptor *from = link(d, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
        const Descriptor *to = link(d, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
        auto how = get<cudnnReduceTensorOp_t>(link(d, CUDNN_ATTR_OPERATION_REDUCTION_DESC),
                                              CUDNN_ATTR_REDUCTION_OPERATOR);
        bool max = how == CUDNN_REDUCE_TENSOR_MAX;
        if (!max && how != CUDNN_REDUCE_TENSOR_ADD) emulate_fail("cuDNN: an unknown reduction");
        Shape sx = shape_of(from), sy = shape_of(to);
        Values x = load(from), y((size_t)elements(sy), max ? -INFINITY : 0.0f);
        int64_t group = sx.dim[1] / sy.dim[1]; /* heads that go together, when not all do */
        for (size_t i = 0; i < x.size(); i++) {
            int64_t rest = (int64_t)i, index[4];
            for (int axis = 3; axis >= 0; axis--) {
                index[axis] = rest % sx.dim[axis];
                rest /= sx.dim[axis];
            }
            index[1] /= group;
            int64_t at = 0;
            for (int axis = 0; axis < 4; axis++)
                at = at * sy.dim[axis] + (sy.dim[axis] == 1 ? 0 : index[axis]);
            y[(size_t)at] = max ? fmaxf(y[(size_t)at], x[i]) : y[(size_t)at] + x[i];
        }
        store(to, y);
    }

    void turn(const Descriptor *d) {
        const Descriptor *from = link(d, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
        const Descriptor *to = link(d, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
        Shape sx = shape_of(from), sy = shape_of(to);
        Values x = load(from), y(x.size());
        if (sx.dim[2] != sy.dim[3] || sx.dim[3] != sy.dim[2] || elements(sx) != elements(sy))
            emulate_fail("cuDNN: a reshape that does not exchange the last two axes");
        int64_t rows = sy.dim[2], columns = sy.dim[3];
        for (int64_t i = 0; i < (int64_t)y.size(); i++)
            y[(size_t)i] = x[(size_t)(i / (rows * columns) * rows * columns + i % columns * rows +
                                      i / columns % rows)];
        store(to, y);
    }

    static float value(cudnnPointwiseMode_t mode, float x, float b, float t, float index) {
        switch (mode) {
        case CUDNN_POINTWISE_MUL: return x * b;
        case CUDNN_POINTWISE_ADD: return x + b;
        case CUDNN_POINTWISE_SUB: return x - b;
        case CUDNN_POINTWISE_DIV: return x / b;
        case CUDNN_POINTWISE_EXP: return expf(x);
        case CUDNN_POINTWISE_LOG: return logf(x);
        case CUDNN_POINTWISE_GEN_INDEX: return index;
        case CUDNN_POINTWISE_CMP_GE: return x >= b;
        case CUDNN_POINTWISE_BINARY_SELECT: return t != 0 ? x : b;
        default: emulate_fail("cuDNN: an unknown pointwise mode");
        }
    }

    void pointwise(const Descriptor *d) {
        const Descriptor *how = link(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
        auto mode = get<cudnnPointwiseMode_t>(how, CUDNN_ATTR_POINTWISE_MODE);
        int64_t axis = get<int64_t>(how, CUDNN_ATTR_POINTWISE_AXIS, -1);
        const Descriptor *operand[3] = {link(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
                                        link(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC),
                                        link(d, CUDNN_ATTR_OPERATION_POINTWISE_TDESC)};
        const Descriptor *to = link(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
        Shape sy = shape_of(to), s[3] = {};
        Values x[3], y((size_t)elements(sy));
        for (int k = 0; k < 3; k++)
            if (operand[k]) {
                s[k] = shape_of(operand[k]);
                x[k] = load(operand[k]);
            }
        for (int64_t i = 0; i < (int64_t)y.size(); i++) {
            float v[3] = {};
            for (int k = 0; k < 3; k++)
                if (operand[k]) v[k] = x[k][(size_t)meets(s[k], sy, i)];
            int64_t step = 1;
            for (int k = 3; k > axis; k--) step *= sy.dim[k];
            float index = axis < 0 ? 0 : (float)(i / step % sy.dim[axis]);
            y[(size_t)i] = value(mode, v[0], v[1], v[2], index);
        }
        store(to, y);
    }

    void all(const Descriptor *graph) {
        const Attribute &ops = graph->attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
        for (int64_t i = 0; i < ops.n; i++) {
            const Descriptor *d = ((Descriptor *const *)ops.bytes.data())[i];
            switch (d->type) {
            case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: product(d); break;
            case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: reduce(d); break;
            case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: turn(d); break;
            case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: pointwise(d); break;
            default: emulate_fail("cuDNN: an unknown operation");
            }
        }
    }
};

} // namespace

#endif
