# RUN: %root/packaging/wheel %build . | sed 's/[0-9]*_[0-9]*_x86_64/GLIBC/'
# RUN: o='install -q --no-index --disable-pip-version-check --no-compile'; python3 -m venv --without-pip v && { python3 -m pip --python v/bin/python3 $o ./*.whl 2>/dev/null || { v/bin/python3 -m ensurepip >/dev/null && v/bin/pip3 $o ./*.whl; }; }
# RUN: bash %root/tests/packaging/train.sh %root %build build; bash %root/tests/packaging/train.sh %root $PWD/v/bin wheel; cmp build.bin wheel.bin && cmp build.safetensors wheel.safetensors
# RUN: v/bin/fsdpc-tokenize tokenizer.json t.txt -o t 2>&1; echo $?
# RUN: cd v/lib/python3*/site-packages; ldd fsdpc/lib/fsdpc/device_cpu.so fsdpc/bin/{fsdpc,fsdp-run} | sed -n "\,$PWD,d; s/.* => .*\/\([^ ]*\) .*/\1/p" | sort -u; ls fsdpc-*/licenses
# The wheel, where PATH leads to no other program, trains the README's model with the bits of the build. It brings all
# libraries that are not part of every system, with their licences.
# TIME: 120
# NEEDS: python:ensurepip tool:dpkg-query build:device_cpu.so sanitizer:none
==== out
wheel: ./fsdpc-0.1.0-py3-none-manylinux_GLIBC.whl
error: the Python package `tokenizers` is not here
help: pip install tokenizers
1
libc.so.6
libgcc_s.so.1
libm.so.6
libstdc++.so.6
LICENSE
libdnnl2
libgomp1
libjansson4
libxxhash0
libyaml-0-2
ocl-icd-libopencl1
