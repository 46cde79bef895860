/* cuDNN's graph interface, found at run time: device_cuda.so also loads without it.
 *
 * The calls are a table, so that a test can put its own functions there and read what a graph is
 * made of. Built without cuDNN's header the table is empty and opening it says so.
 */
#ifndef FSDPC_CUDNN_LIBRARY_H
#define FSDPC_CUDNN_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#if !defined(WITHOUT_CUDNN) && __has_include(<cudnn_graph.h>)
#define HAVE_CUDNN 1
#include <cudnn_graph.h>

/* After the last version whose attention needs a padding mask for lengths that are no multiple of
 * 128 (9.15.0), and those that NVIDIA's front end refuses (9.10.1, 9.14.0). Masked scores may be
 * minus infinity since 9.10. */
enum { CUDNN_OLDEST = 91501 };

typedef struct Cudnn {
    void *library; /* dlopen's handle */
    size_t (*version)(void);
    const char *(*error_string)(cudnnStatus_t status);
    void (*last_error)(char *message, size_t bytes);
    cudnnStatus_t (*create)(cudnnHandle_t *handle);
    cudnnStatus_t (*destroy)(cudnnHandle_t handle);
    cudnnStatus_t (*set_stream)(cudnnHandle_t handle, cudaStream_t stream);
    cudnnStatus_t (*create_descriptor)(cudnnBackendDescriptorType_t type,
                                       cudnnBackendDescriptor_t *descriptor);
    cudnnStatus_t (*destroy_descriptor)(cudnnBackendDescriptor_t descriptor);
    cudnnStatus_t (*finalize)(cudnnBackendDescriptor_t descriptor);
    cudnnStatus_t (*set)(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t n, const void *from);
    cudnnStatus_t (*get)(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t room, int64_t *n, void *to);
    cudnnStatus_t (*execute)(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                             cudnnBackendDescriptor_t operands);
} Cudnn;

/* 0, or 1 with the reason in `why` (bytes of room): no such library, or one that is too old. The
 * library stays in the process once it is loaded. */
int cudnn_library_open(Cudnn *out, char *why, size_t bytes);

#endif
#endif
