# RUN: python3 %root/tests/runtime/gone_host.py %build
# When everything on a host is killed, or its only rank, or mpirun's daemon, mpirun ends the others: before that one of them names the lost rank and where it was missing, or the daemon's host; code 4.
# NEEDS: network:namespaces tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# TIME: 120
# WAITS: for mpirun
==== out
error: rank 1 (process P on fsdp-2) is gone, or its host is; rank 0 waited for it in PLACE
help: the kernel's log (dmesg) there tells whether memory ran out; start the run again
4
error: rank 1 (process P on fsdp-2) is gone, or its host is; rank 0 waited for it in PLACE
help: the kernel's log (dmesg) there tells whether memory ran out; start the run again
4
error: the launcher's daemon on fsdp-2, which started rank 1, has ended
help: the kernel's log (dmesg) there tells whether memory ran out; start the run again
4
