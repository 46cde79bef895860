# RUN: ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 %python -c "import ctypes, os; ctypes.CDLL('%build/device_cuda.so', mode=os.RTLD_NOW).fsdp_device; print('loaded')"
# Every symbol that the module wants is in the libraries that it names.
# NEEDS: build:device_cuda.so
==== out
loaded
