# RUN: python3 %root/tests/tcp/ports.py bash each.sh %build/tests/modules/tcp_process
# While rank 2 is still missing, rank 1 is killed, rank 0 is killed, or rank 0 is stopped: the other one names it.
# NEEDS: build:tests/modules/tcp_process tool:ss
# WAITS: for a time-out
==== each.sh
export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 FSDP_TIMEOUT=4
meet() {
    for r in 0 1; do RANK=$r LOCAL_RANK=$r $3 compare 2> err.$r & pid[$r]=$!; done
    until ss -Htnp state established | grep -q "pid=${pid[1]},"; do sleep 0.05; done
    sleep 0.5
    kill -$1 ${pid[$2]}
    wait ${pid[1 - $2]}
    echo $?
    sed "s/(process ${pid[$2]} on $(hostname))/(process P)/; s/within [0-9]* s/in time/" err.$((1 - $2))
    kill -KILL ${pid[$2]}; wait
} 2> /dev/null
meet KILL 1 $1; meet KILL 0 $1; meet STOP 0 $1
==== out
4
error: rank 1 (process P) was killed or ended while the ranks met
help: see its output; start the run again
4
error: rank 0 (process P) was killed or ended while the ranks met
help: see its output; start the run again
4
error: rank 0 (process P) did not bring all ranks together in time
help: check that process; FSDP_TIMEOUT=SECONDS waits longer
