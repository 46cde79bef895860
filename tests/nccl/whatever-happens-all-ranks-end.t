# RUN: seq 4000 >t.txt; cp %root/tests/nccl/net.fsd .; %python %root/tests/nccl/ends.py %fsdpc %build %t net.fsd 4 killed awaited stopped silent interrupt
# A rank that is killed, stops or stays away ends all ranks with code 4 and one message; Ctrl-C with 130.
# NEEDS: build:emulated/run/transport_nccl.so
# TIME: 90
# WAITS: for time-outs
==== out
killed: codes 4 -9 4 4
error: rank 1 (process PID on HOST) was killed or ended without a message
help: the kernel's log (dmesg) tells whether memory ran out; start the run again
awaited: codes 4 -9 4 4
error: rank 1 (process PID on HOST) was killed or ended without a message; rank R waits in PLACE: OP #N, number K
help: the kernel's log (dmesg) tells whether memory ran out; start the run again
stopped: codes 4 4 4
error: rank 1 (process PID on HOST) has been stopped (SIGSTOP) for 6 s or longer
help: start the run again; kill -CONT resumes a stopped process
silent: codes 4 4 4 4
error: rank 0 (process PID on HOST), rank 2, rank 3 did not reach net.fsd:16:9: reduce_scatter #N, number 2 of the reductions among these ranks within 6 s; 1 of 4 ranks wait there; it waits in h.0 net.fsd:8:3: reduce_scatter #N, number 1 of the reductions among these ranks
help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
interrupt: codes 130 130 130 130
