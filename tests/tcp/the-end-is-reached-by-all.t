# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare leave' --rank 2 'compare sleep 1500 leave'; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare leave' --rank 2 'compare sleep 60000' --timeout 4; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare leave' --rank 2 'compare kill'
# A rank leaves when all do; one that does not come, or is killed before, is named.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 0, rank 1 exit 0, rank 2 exit 0
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4
1 said:
    error: rank 2 (process P on HOST) did not reach the end of the run within 4 s
    help: check that process; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4, rank 2 SIGKILL
1 said:
    error: rank 2 (process P on HOST) was killed or ended without a message
    help: the kernel's log (dmesg) tells whether memory ran out; start the run again
