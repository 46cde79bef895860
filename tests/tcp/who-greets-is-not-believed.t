# RUN: %python %root/tests/tcp/greet.py %build/tests/modules/tcp_process
# What another process calls itself is escaped for the terminal; and where there is a secret, right numbers with a wrong proof let nobody in.
# NEEDS: build:tests/modules/tcp_process
# WAITS: for a time-out
==== out
REFUSED
error: rank 1 (process 7 on \x1b[31mred\x7f\xc2\x9bé) was started as one of 9 ranks, rank 0 as one of 2
help: start all processes with the same number of ranks (WORLD_SIZE)
exit 1
CHALLENGE, REFUSED
error: rank 1 of 2 did not connect to rank 0 at 127.0.0.1, port PORT, within 3 s; rank 0 turned away 1 other connection
help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS waits longer
exit 4
