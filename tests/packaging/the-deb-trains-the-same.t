# RUN: %root/packaging/deb %build . && dpkg-deb -x *.deb root && dpkg-deb -f *.deb Package Version Depends | sed 's/ (>= [^)]*)//g'
# RUN: bash %root/tests/packaging/train.sh %root %build build; bash %root/tests/packaging/train.sh %root $PWD/root/usr/bin deb; cmp build.bin deb.bin && cmp build.safetensors deb.safetensors
# RUN: cd root/usr; find . -type f ! -name '*.fsd' ! -name '*.so' ! -path '*/docs/*' | LC_ALL=C sort; for p in share/man/man?/*; do man --warnings -l $p 2>&1 >/dev/null; done; bash -n share/bash-completion/completions/fsdpc
# The .deb, unpacked into a folder, trains the README's model with the bits of the build; manual pages have no mistakes.
# TIME: 120
# NEEDS: tool:dpkg-deb tool:man build:device_cpu.so sanitizer:none
==== out
deb: ./fsdpc_0.1.0_amd64.deb
Package: fsdpc
Version: 0.1.0
Depends: libc6, libdnnl2, libgcc-s1, libgomp1, libjansson4, libstdc++6, libxxhash0, libyaml-0-2, ocl-icd-libopencl1
./bin/fsdp-run
./bin/fsdpc
./bin/fsdpc-tokenize
./lib/fsdpc/kernel_compare
./share/bash-completion/completions/fsdpc
./share/doc/fsdpc/README.md
./share/doc/fsdpc/copyright
./share/doc/fsdpc/ir/text/levels.md
./share/fsdpc/machines/a100-40.machine
./share/fsdpc/machines/a100-80.machine
./share/fsdpc/machines/h100-80.machine
./share/fsdpc/machines/rtx-4090.machine
./share/fsdpc/machines/rtx-pro-6000.machine
./share/man/man1/fsdp-run.1.gz
./share/man/man1/fsdpc.1.gz
./share/man/man5/fsd.5.gz
./share/zsh/vendor-completions/_fsdpc
