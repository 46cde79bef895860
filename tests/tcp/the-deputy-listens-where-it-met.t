# RUN: python3 %root/tests/tcp/ports.py bash each.sh %build/tests/modules/tcp_process 2> %t/killed
# Ranks that met at an address of this machine listen only there: rank 0, and its deputy at a port of its own.
# NEEDS: build:tests/modules/tcp_process tool:ss
==== each.sh
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
for r in 0 1; do RANK=$r LOCAL_RANK=$r $1 compare ready spin > ready.$r 2> /dev/null & pid[$r]=$!; done
for r in 0 1; do until grep -q ready ready.$r; do sleep 0.05; done; done
for r in 0 1; do ss -H -ltnp | grep "pid=${pid[$r]}," | awk '{ sub(/:[0-9]+$/, "", $4); print $4 }'; done
kill -KILL ${pid[*]}; wait 2> /dev/null
==== out
127.0.0.1
127.0.0.1
