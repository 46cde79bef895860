/* libcuda.so.1 for a machine without a driver: enough of it for cuDNN to compile plans for a GPU
 * that is only described. Loading a kernel succeeds and returns dummy handles; there is no device,
 * so initialising or asking for one fails. Programs that link this must not run kernels. */
#include <stddef.h>

enum { SUCCESS = 0, NO_DEVICE = 100, HANDLE = 64 };
static char nothing[HANDLE];

#define FAILS(name)                                                                                \
    int name(void);                                                                                \
    int name(void) { return NO_DEVICE; }
#define SUCCEEDS(name)                                                                             \
    int name(void);                                                                                \
    int name(void) { return SUCCESS; }
#define GIVES_HANDLE(name)                                                                         \
    int name(void **out);                                                                          \
    int name(void **out) {                                                                         \
        *out = nothing;                                                                            \
        return SUCCESS;                                                                            \
    }
#define GIVES_NUMBER(name, number)                                                                 \
    int name(int *out);                                                                            \
    int name(int *out) {                                                                           \
        *out = number;                                                                             \
        return SUCCESS;                                                                            \
    }
#define GIVES_TEXT(name)                                                                           \
    int name(int error, const char **out);                                                         \
    int name(int error, const char **out) {                                                        \
        *out = error == NO_DEVICE ? "no device" : "an error";                                      \
        return SUCCESS;                                                                            \
    }

FAILS(cuInit)
FAILS(cuGetExportTable)
FAILS(cuDeviceGet)
FAILS(cuDeviceGetAttribute)
FAILS(cuDevicePrimaryCtxRetain)
FAILS(cuDevicePrimaryCtxReset)
FAILS(cuDevicePrimaryCtxRelease)
FAILS(cuCtxGetCurrent)
FAILS(cuCtxGetDevice)
FAILS(cuCtxGetLimit)
FAILS(cuCtxPushCurrent)
FAILS(cuCtxPopCurrent)
FAILS(cuStreamGetCtx)
FAILS(cuStreamSynchronize)
FAILS(cuLaunchKernel)
FAILS(cuLaunchKernelEx)
FAILS(cuLaunchCooperativeKernel)
FAILS(cuMemcpyDtoH_v2)
FAILS(cuTensorMapEncodeTiled)
FAILS(cuLinkCreate)
FAILS(cuLinkCreate_v2)
FAILS(cuLinkAddData)
FAILS(cuLinkAddData_v2)
FAILS(cuLinkAddFile_v2)
FAILS(cuLinkComplete)
FAILS(cuLinkDestroy)
FAILS(cuModuleLoadData)
FAILS(cuModuleLoadDataEx)
FAILS(cuModuleLoadFatBinary)
FAILS(cuModuleGetFunction)
FAILS(cuModuleGetGlobal_v2)
FAILS(cuModuleUnload)
GIVES_NUMBER(cuDriverGetVersion, 13000)
GIVES_NUMBER(cuDeviceGetCount, 0)
GIVES_NUMBER(cuKernelGetAttribute, 0)
GIVES_NUMBER(cuOccupancyMaxPotentialClusterSize, 8)
GIVES_NUMBER(cuOccupancyMaxActiveBlocksPerMultiprocessor, 1)
GIVES_HANDLE(cuLibraryLoadData)
GIVES_HANDLE(cuLibraryLoadFromFile)
GIVES_HANDLE(cuLibraryGetKernel)
SUCCEEDS(cuLibraryUnload)
SUCCEEDS(cuKernelSetAttribute)
SUCCEEDS(cuFuncSetAttribute)
SUCCEEDS(cuFuncGetAttribute)
GIVES_TEXT(cuGetErrorName)
GIVES_TEXT(cuGetErrorString)
