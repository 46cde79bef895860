# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 2 compare --env all MASTER_ADDR=no.host.invalid | sed 's/host of rank 0: .*/host of rank 0/'
# Every rank reports a host name that does not resolve, with the name.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 2, rank 1 exit 2
1 said:
    error: rank 0: cannot resolve no.host.invalid, the host of rank 0
    help: set MASTER_ADDR to the name or address of rank 0's host, as this host sees it
1 said:
    error: rank 1: cannot resolve no.host.invalid, the host of rank 0
    help: set MASTER_ADDR to the name or address of rank 0's host, as this host sees it
