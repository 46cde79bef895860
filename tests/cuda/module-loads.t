# RUN: %python -c "import ctypes, os; ctypes.CDLL('%build/device_cuda.so', mode=os.RTLD_NOW).fsdp_device; print('loaded')"
# Every symbol that the module wants is in the libraries that it names.
# NEEDS: build:device_cuda.so
==== out
loaded
