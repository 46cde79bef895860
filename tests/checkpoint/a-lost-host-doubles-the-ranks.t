# RUN: python3 %root/tests/checkpoint/lost_host.py %build
# When a host is lost, --restarts lets its ranks double up on the host that stays, and go on from the newest checkpoint, again
# when a rank is lost there too; when the host is back they return to it. All of it has the bits of a run that nothing happened to.
# NEEDS: network:namespaces tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# TIME: 300
# WAITS: for a host that is lost
==== out
note: 10.213.77.2 no longer answers; its ranks double up: --hosts 10.213.77.1:4
same
