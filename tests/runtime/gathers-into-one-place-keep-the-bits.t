# RUN: cp %root/tests/runtime/toy.fsd toy.fsd; seq 3000 > t.txt; bash each.sh %fsdpc %fsdp-run %t
# Ranks that gather into one place for all have the bits of ranks that gather into a place each.
# TIME: 120
# NEEDS: build:device_cpu.so
==== each.sh
large="D=728 train.precision=bf16 train.batch=4 train.steps=2 train.eval_steps=1" # a unit has more than 1 MiB: ranks meet before casts write over it
while read -r mesh set; do
    $1 compile -q toy.fsd -o p.bin --mesh $mesh $(printf -- '-s %s ' $set) || exit
    for o in off on; do
        "$2" --overlap $o --threads 1 --quiet --save $3/$o --log $3/log p.bin || exit
        sed -E 's/"(time|step_ms|check_ms|tokens_per_s|model_flops_per_s|seconds)":[^,}]*//g' $3/log >$3/log$o
    done
    cmp $3/on $3/off && cmp $3/logon $3/logoff || exit
done <<END
dp=3 shard.unit=root
dp=4 shard.layout=param
dp=4 shard.strategy=grads
dp=4 shard.reshard=2
rep=2,dp=4 shard.prefetch=0
rep=2,dp=2 $large
dp=4 $large shard.strategy=grads
END
