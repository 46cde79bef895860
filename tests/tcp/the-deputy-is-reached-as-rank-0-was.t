# RUN: python3 %root/tests/tcp/ports.py bash each.sh %build/tests/modules/tcp_process 2> %t/killed
# Rank 2 has a connection to rank 0 and one to its deputy, rank 1, whether they met at an address of IPv4, of IPv6, or at one of IPv4 where rank 0 listens for both.
# NEEDS: build:tests/modules/tcp_process tool:ss file:/proc/net/if_inet6
==== each.sh
export WORLD_SIZE=3
for address in 127.0.0.1 ::1 0.0.0.0; do
    for r in 0 1 2; do MASTER_ADDR=$address RANK=$r LOCAL_RANK=$r $1 compare agree 1 ready spin > ready.$r 2> /dev/null & pid[$r]=$!; done
    for r in 0 1 2; do until grep -q ready ready.$r; do sleep 0.05; done; done
    for i in 1 2 3 4 5 6 7 8 9 10; do
        n=$(ss -Htnp state established | grep -c "pid=${pid[2]},"); [ $n = 2 ] && break; sleep 0.2
    done
    echo "$address $n"
    kill -KILL ${pid[*]}; wait 2> /dev/null; rm ready.*
done
==== out
127.0.0.1 2
::1 2
0.0.0.0 2
