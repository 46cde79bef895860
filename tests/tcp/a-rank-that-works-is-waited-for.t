# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare watch at 5 told' --rank 1 'compare watch sleep 500 at 5 told' --rank 2 'compare watch work 12000 at 5 sleep 500 at -1 fail 2 late' --timeout 4
# A rank that is still working is not missing, however long the others wait and however often they ask.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
rank 0 exit 2, rank 1 exit 2, rank 2 exit 2
1 said:
    error: late
