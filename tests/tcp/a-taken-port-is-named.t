# RUN: for kind in garbage beat close; do %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 2 compare --server $kind; done
# If another program holds the port of rank 0, every rank reports it, and none waits for ever.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 2, rank 1 exit 2
1 said:
    error: port PORT, on which rank 0 listens, is used by another program or another rank 0
    help: end that program (ss -ltnp shows it), or set FSDP_NCCL_PORT to a free port for all ranks
1 said:
    error: rank 1: the program that listens at 127.0.0.1, port PORT, is not rank 0 of this fsdp-run
    help: set FSDP_NCCL_PORT to a free port for all ranks; use the same fsdp-run everywhere
rank 0 exit 2, rank 1 exit 2
1 said:
    error: port PORT, on which rank 0 listens, is used by another program or another rank 0
    help: end that program (ss -ltnp shows it), or set FSDP_NCCL_PORT to a free port for all ranks
1 said:
    error: rank 1: the program that listens at 127.0.0.1, port PORT, is not rank 0 of this fsdp-run
    help: set FSDP_NCCL_PORT to a free port for all ranks; use the same fsdp-run everywhere
rank 0 exit 2, rank 1 exit 4
1 said:
    error: port PORT, on which rank 0 listens, is used by another program or another rank 0
    help: end that program (ss -ltnp shows it), or set FSDP_NCCL_PORT to a free port for all ranks
1 said:
    error: rank 1 could not reach rank 0 at 127.0.0.1, port PORT, within 6 s: another program answers there
    help: start rank 0 there; MASTER_ADDR, MASTER_PORT and FSDP_NCCL_PORT must be the same for all ranks
