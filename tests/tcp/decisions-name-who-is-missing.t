# RUN: meet() { %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process "$@"; }; meet -n 3 'compare agree 5' --rank 0 'compare sleep 500 agree 5' --rank 1 'compare watch spin' --timeout 3 >a & meet -n 4 'compare agree 5' --rank 0 'compare sleep 500 split 5' --rank 2 'compare watch spin' --timeout 3 >b & meet -n 3 'compare' --rank 2 'spin' --timeout 5 >c & wait; cat a b c
# A host collective to which a living rank does not come ends the run: soon at the start, later after it.
# Whichever rank has waited longest, the message is the same; and a rank that does not come because it
# waits for another one is not named, but that one.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4
1 said:
    error: rank 1 (process P on HOST) did not reach the agreement within 30 s; 2 of 3 ranks wait there
    help: check that process; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4, rank 3 exit 4
1 said:
    error: rank 2 (process P on HOST) did not reach the agreement within 30 s; 1 of 2 ranks wait there
    help: check that process; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4
1 said:
    error: rank 2 (process P on HOST) did not reach the start of the run within 5 s; 2 of 3 ranks wait there
    help: check that process; FSDP_TIMEOUT=SECONDS waits longer
