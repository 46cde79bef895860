# RUN: bash each.sh %fsdpc %fsdp-run %t %root/models/gpt2.fsd && echo same
# With an axis tp, processes give the bytes of threads: losses, weights, gradients and checkpoints.
# TIME: 60
# NEEDS: sanitizer:none tool:mpirun build:device_cpu.so build:transport_mpi.so
==== each.sh
for mesh in tp=2 dp=2,tp=2 tp=2,dp=2; do
    n=$(($(echo $mesh | sed 's/[dpt]*=//g; s/,/ * /')))
    $1 compile -q $4 -o p.bin --mesh $mesh -s L=1 -s D=32 -s H=4 -s vocab=64 -s seq=16 -s data.length=16 \
        -s 'data.train=synthetic_tokens(vocab)' -s data.val=none -s train.batch=4 -s train.steps=3 \
        -s train.schedule=constant -s train.eval_every=none || exit
    for t in local mpi; do
        "$2" --transport $t -n $n --threads 1 --quiet --save $3/$t --dump-grads 1=$3/g$t \
            --checkpoint $3/$mesh.$t p.bin || exit
        rm $3/$mesh.$t/step-*/manifest.json
    done
    cmp $3/local $3/mpi && cmp $3/glocal $3/gmpi && diff -r -x lock $3/$mesh.local $3/$mesh.mpi || exit
done
==== out
same
