# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare share 2 agree 7 split 3 many 200 leave' --order 3,1,2,0 200 --words
# Ranks that start before rank 0 wait for it; then host collectives give every rank the same answer.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
rank 0 exit 0, rank 1 exit 0, rank 2 exit 0, rank 3 exit 0
    rank 0: agreed on 7
    rank 0: agreements 200
    rank 0: compared 0
    rank 0: done 0
    rank 0: half agreed on 3
    rank 0: joined; ranks here: 4
    rank 0: shared by 2
    rank 1: agreed on 7
    rank 1: agreements 200
    rank 1: compared 0
    rank 1: done 0
    rank 1: half agreed on 3
    rank 1: joined; ranks here: 4
    rank 1: shared by 2
    rank 2: agreed on 7
    rank 2: agreements 200
    rank 2: compared 0
    rank 2: done 0
    rank 2: half agreed on 3
    rank 2: joined; ranks here: 4
    rank 2: shared by 2
    rank 3: agreed on 7
    rank 3: agreements 200
    rank 3: compared 0
    rank 3: done 0
    rank 3: half agreed on 3
    rank 3: joined; ranks here: 4
    rank 3: shared by 2
