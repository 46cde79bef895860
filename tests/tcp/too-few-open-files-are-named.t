# RUN: ulimit -n 100; RANK=0 WORLD_SIZE=2000 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 %build/tests/modules/tcp_process compare
# Rank 0 needs a connection to each rank: if it may not open that many files, it reports this at once.
# NEEDS: build:tests/modules/tcp_process
==== err
error: rank 0 of 2000 needs more connections than its limit of 100 open files allows
help: raise the limit where rank 0 is started: ulimit -Hn, or limits.conf
==== exit 2
