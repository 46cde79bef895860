# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare watch at 5 told' --rank 2 'compare watch told'; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare watch at 5 told' --rank 0 'compare watch told' --rank 3 'compare watch told'
# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare watch at 5 told' --rank 2 'compare watch at 3 told'; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 2 'compare watch at 5 told'
# A collective that does not finish is named with the ranks that did not come, or are behind.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4, rank 3 exit 4
1 said:
    error: rank 2 (process P on HOST) did not reach all_gather of unit 5 (m.fsd:7), number 5 of the reductions among these ranks within 6 s; 3 of 4 ranks wait there
    help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4, rank 3 exit 4
1 said:
    error: rank 0 (process P on HOST), rank 3 did not reach all_gather of unit 5 (m.fsd:7), number 5 of the reductions among these ranks within 6 s; 2 of 4 ranks wait there
    help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4, rank 3 exit 4
1 said:
    error: rank 2 (process P on HOST) did not reach all_gather of unit 5 (m.fsd:7), number 5 of the reductions among these ranks within 6 s; 3 of 4 ranks wait there; it waits in all_gather of unit 3 (m.fsd:7), number 3 of the reductions among these ranks
    help: check what that process is doing; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4
1 said:
    error: all_gather of unit 5 (m.fsd:7), number 5 of the reductions among these ranks did not finish within 6 s although all ranks reached it
    help: a GPU or the network between the ranks is stuck; NCCL_DEBUG=INFO and dmesg show more; FSDP_TIMEOUT=SECONDS waits longer
