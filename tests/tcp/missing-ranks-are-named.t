# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 compare --rank 2 '' --env 2 FSDP_NCCL_PORT=9; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 compare --env 0 FSDP_NCCL_PORT=other --env all FSDP_TIMEOUT=6
# Ranks that do not come, rank 0 among them, are named when the time is up.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4, rank 3 exit 4
1 said:
    error: rank 2 could not reach rank 0 at 127.0.0.1, port 9, within 6 s: Connection refused
    help: start rank 0 there; MASTER_ADDR, MASTER_PORT and FSDP_NCCL_PORT must be the same for all ranks
3 said:
    error: rank 2 of 4 did not connect to rank 0 at 127.0.0.1, port PORT, within 6 s
    help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4
1 said:
    error: rank 1 could not reach rank 0 at 127.0.0.1, port PORT, within 6 s: Connection refused
    help: start rank 0 there; MASTER_ADDR, MASTER_PORT and FSDP_NCCL_PORT must be the same for all ranks
1 said:
    error: rank 2 could not reach rank 0 at 127.0.0.1, port PORT, within 6 s: Connection refused
    help: start rank 0 there; MASTER_ADDR, MASTER_PORT and FSDP_NCCL_PORT must be the same for all ranks
1 said:
    error: ranks 1, 2 of 3 did not connect to rank 0 at 127.0.0.1, port OTHER, within 6 s
    help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
