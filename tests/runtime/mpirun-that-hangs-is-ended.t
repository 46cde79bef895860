# RUN: mkdir bin && cp mpirun bin && chmod +x bin/mpirun; seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -o p -n 2; export REAL=$(which mpirun) PATH=$PWD/bin:$PATH; for data in none.txt t.txt; do (%fsdp-run -q --threads 1 --transport mpi --data train=$data p 2> $data.err; echo $? >> $data.err) & done; wait; cat none.txt.err t.txt.err
# mpirun that does not end after its last rank, as it may by a lock of its own, is killed; what a rank said stands.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so
# TIME: 100
==== mpirun
#!/bin/bash
mkfifo never.$$
exec 9<>never.$$
"$REAL" "$@" 9<&-
read -u 9
==== out
error: cannot open data file none.txt: No such file or directory
help: data paths are relative to the working directory; --data train=PATH names another file
4
0
