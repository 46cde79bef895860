# RUN: printf 'a-long-secret-of-this-run\n' > key; bash each.sh "%python %root/tests/tcp/meet.py %build/tests/modules/tcp_process"
# Ranks that share a secret, given directly or in a file, meet and know their deputy; one without it, or with another, is turned away and reports it.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== each.sh
s="--env all FSDP_SECRET=a-long-secret-of-this-run"
$1 -n 3 'compare many 20 leave' $s
$1 -n 2 'compare leave' --env 0 FSDP_SECRET_FILE=key --env 1 FSDP_SECRET=a-long-secret-of-this-run
$1 -n 4 'compare many 20 ready spin' $s --signal 0 KILL 300
$1 -n 2 'compare leave' --env 0 FSDP_SECRET_FILE=key
$1 -n 2 'compare leave' --env 1 FSDP_SECRET_FILE=key
$1 -n 2 'compare leave' $s --env 1 FSDP_SECRET=another-secret-than-that
==== out
rank 0 exit 0, rank 1 exit 0, rank 2 exit 0
rank 0 exit 0, rank 1 exit 0
rank 0 SIGKILL, rank 1 exit 4, rank 2 exit 4, rank 3 exit 4
1 said:
    error: rank 0 (process P on HOST) was killed or ended without a message
    help: the kernel's log (dmesg) tells whether memory ran out; start the run again
rank 0 exit 4, rank 1 exit 1
1 said:
    error: rank 1 has no FSDP_SECRET, and rank 0 has one
    help: set the same FSDP_SECRET or FSDP_SECRET_FILE for all ranks
1 said:
    error: rank 1 of 2 did not connect to rank 0 at 127.0.0.1, port PORT, within 6 s; rank 0 turned away 1 other connection
    help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 1
1 said:
    error: rank 1 has an FSDP_SECRET, and rank 0 has none
    help: set the same FSDP_SECRET or FSDP_SECRET_FILE for all ranks
1 said:
    error: rank 1 of 2 did not connect to rank 0 at 127.0.0.1, port PORT, within 6 s; rank 0 turned away 1 other connection
    help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
rank 0 exit 4, rank 1 exit 1
1 said:
    error: rank 1 of 2 did not connect to rank 0 at 127.0.0.1, port PORT, within 6 s; rank 0 turned away 1 other connection
    help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
1 said:
    error: rank 1: the program that listens at 127.0.0.1, port PORT, does not know this rank's FSDP_SECRET
    help: set the same FSDP_SECRET or FSDP_SECRET_FILE for all ranks
