# RUN: for rank in 0 2; do %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare 0' --rank $rank 'compare 3' --words; done
# When preparations failed on a rank all get all reports, and end without another message.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
rank 0 exit 3, rank 1 exit 3, rank 2 exit 3
    rank 0: compared 3
    rank 0: joined; ranks here: 3
    rank 1: compared 3
    rank 1: joined; ranks here: 3
    rank 2: compared 3
    rank 2: joined; ranks here: 3
rank 0 exit 3, rank 1 exit 3, rank 2 exit 3
    rank 0: compared 3
    rank 0: joined; ranks here: 3
    rank 1: compared 3
    rank 1: joined; ranks here: 3
    rank 2: compared 3
    rank 2: joined; ranks here: 3
