# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 1 'compare share 0 agree 7 watch many 3 leave' --words
# A world of one rank opens no port, and its host collectives end at once.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
rank 0 exit 0
    rank 0: agreed on 7
    rank 0: agreements 3
    rank 0: compared 0
    rank 0: done 0
    rank 0: joined; ranks here: 1
    rank 0: shared by 0
