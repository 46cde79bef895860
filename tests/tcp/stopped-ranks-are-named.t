# RUN: for rank in 2 0; do %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare watch ready told' --signal $rank STOP 100 --timeout 6; done
# A rank that is stopped, rank 0 too, is named after the time-out, once.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
# WAITS: for time-outs
==== out
rank 0 exit 4, rank 1 exit 4, rank 2 SIGKILL
1 said:
    error: rank 2 (process P on HOST) has been stopped (SIGSTOP) for 6 s or longer
    help: start the run again; kill -CONT resumes a stopped process
rank 0 SIGKILL, rank 1 exit 4, rank 2 exit 4
1 said:
    error: rank 0 (process P on HOST) has been stopped (SIGSTOP) for 6 s or longer
    help: start the run again; kill -CONT resumes a stopped process
