# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 compare --env 1 IDENTITY=5 --order 0,2,1 300
# A rank of another run is turned away with a message, and is not one of the ranks that this run waits for.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 4, rank 1 exit 1, rank 2 exit 4
1 said:
    error: rank 1 (process P on HOST) belongs to a different run than rank 0 (process P), which listens on port PORT
    help: set FSDP_NCCL_PORT to a free port for all ranks of one of the runs
2 said:
    error: rank 1 of 3 did not connect to rank 0 at 127.0.0.1, port PORT, within 6 s; rank 0 turned away 1 other connection
    help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
