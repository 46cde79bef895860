# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare spin' --rank 2 'compare fail 2 full' --rank 3 'compare fail 2 full'
# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare spin' --rank 0 'compare fail 5 nan' --rank 3 'compare fail 5 nan'
# RUN: %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare spin' --rank 2 'compare fail 4 echo' --rank 3 'compare kill'; %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 3 'compare spin' --rank 1 'compare fail 4 alone'
# If several ranks fail at once, one reports; a lost rank takes precedence over those that noticed it by other means.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
rank 0 exit 2, rank 1 exit 2, rank 2 exit 2, rank 3 exit 2
1 said:
    error: full
rank 0 exit 5, rank 1 exit 5, rank 2 exit 5, rank 3 exit 5
1 said:
    error: nan
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4, rank 3 SIGKILL
1 said:
    error: rank 3 (process P on HOST) was killed or ended without a message
    help: the kernel's log (dmesg) tells whether memory ran out; start the run again
rank 0 exit 4, rank 1 exit 4, rank 2 exit 4
1 said:
    error: alone
