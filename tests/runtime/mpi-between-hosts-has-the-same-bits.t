# RUN: cp %root/tests/runtime/toy.fsd toy.fsd; seq 3000 > t.txt; bash each.sh %fsdpc %fsdp-run %t && %fsdpc compile -q -s train.steps=12 toy.fsd -o two.bin -n 2
# RUN: FSDP_TEST_HOSTS=2 %fsdp-run --transport mpi --threads 1 two.bin 2>&1 | grep overlap | sed 's/on from/off from/; s/took .*/took .../'
# Data sent in MPI's messages, as between hosts, gives the same bytes as data read in place, also if it is sent during
# the computation, which a run tries by itself.
# TIME: 120
# NEEDS: tool:mpirun build:transport_mpi.so
# WAITS: for ranks in other processes
==== each.sh
compare() {
    $1 compile -q -s train.steps=12 toy.fsd -o p.bin -n $4 -s shard.strategy=$6 -s train.precision=$7 || exit
    "$2" --transport local -n $4 --threads 1 --quiet --save $3/local p.bin || exit
    for o in $8; do
        FSDP_TEST_HOSTS=$5 "$2" --transport mpi --threads 1 --quiet --overlap $o --save $3/mpi p.bin || exit
        cmp $3/local $3/mpi || exit
    done
}
compare $1 "$2" $3 2 2 full f32 "off on auto"
compare $1 "$2" $3 3 2 grads f32 off
compare $1 "$2" $3 4 2 none f32 off
compare $1 "$2" $3 4 4 full bf16 "off on"
==== out
--overlap off from here on: the fastest step took ...
