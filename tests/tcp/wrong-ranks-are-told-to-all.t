# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare leave' --env 1 WORLD_SIZE=4; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare leave' --env 2 RANK=1
# Every rank reports a wrong number of ranks, or two processes with the same rank.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 1, rank 1 exit 1, rank 2 exit 1
3 said:
    error: rank 1 (process P on HOST) was started as one of 4 ranks, rank 0 as one of 3
    help: start all processes with the same number of ranks (WORLD_SIZE)
rank 0 exit 1, rank 1 exit 1, rank 2 exit 1
3 said:
    error: two processes claim to be rank 1: rank 1 (process P on HOST) and process P on HOST
    help: give each process its own rank (RANK)
