# RUN: %fsdp-run --version | sed -E '/: /s/[0-9]+(\.[0-9]+)+/N/g; s/^commit ([0-9a-f]{12}(-dirty)?|unknown)$/commit C/; s/set (plain|avx2|avx512|avx512_bf16|amx)(, oneDNN N)?$/set I/' | grep -v 'cuda\|nccl\|mpi' && FSDP_CPU_ISA=plain %fsdp-run --version | grep -o 'set plain'; %fsdp-run --help | sed -n 1p
# --version prints version, commit, libraries and what modules use, --help how it is used; both end with 0.
# NEEDS: build:device_cpu.so
==== out
fsdp-run 0.1.0
commit C
libraries: jansson N, xxHash N, glibc N
device cpu: instruction set I
transport tcp: present
set plain
usage: fsdp-run [-n RANKS] [options] plan.bin
