# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p && %fsdp-run -q --threads 1 --log l --save w p && for s in 2 4 6; do %fsdp-run -q --transport mpi -n 2 --threads 1 --steps $s --resume-or-start ck --save v p || exit; done; cmp v w && %fsdp-run -q --threads 1 --checkpoint one p && rm */*/manifest.json && diff -r ck/step-00000006 one/step-00000006 && echo same
# RUN: %fsdp-run -q --transport mpi -n 2 --threads 1 --checkpoint c2 --steps 3 p && printf x | dd of=c2/step-00000003/rank-00001-of-00002.safetensors bs=1 seek=4200 conv=notrunc 2> /dev/null; %fsdp-run -q --transport mpi -n 2 --threads 1 --resume c2 p 2>&1 | sed 's/ (process.*): c2/: c2/'
# Processes write the files that threads do, and go on from them.
# NEEDS: tool:mpirun build:device_cpu.so build:transport_mpi.so sanitizer:none
# TIME: 60
==== out
same
error: rank 1: c2/step-00000003/rank-00001-of-00002.safetensors: tensor out.weight: bytes 0 to 10239 are damaged: checksum mismatch
help: no earlier checkpoint is intact
==== exit 3
