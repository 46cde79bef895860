# trained.sh FSDPC FSDP_RUN MODEL: trains a model of this folder at a small size, saves w.safetensors, and
# prints loss and gradient norm of these weights for the first 4 x 32 bytes of t.txt, which it writes.
here=${BASH_SOURCE%/*} fsdpc=$1 run=$2 model=$3
seq 300 >t.txt
bash "$here/small.sh" "$fsdpc" "$model" -q -n 2 -s 'train.optimizer=sgd(lr = 0.02)' -o train.bin &&
    "$run" -q --threads 1 --save w.safetensors train.bin &&
    bash "$here/small.sh" "$fsdpc" "$model" -q -n 2 -s 'data.train=text("t.txt")' -s data.order=sequential -s data.length=32 \
        -s train.batch=4 -s train.steps=1 -o step.bin &&
    rm -f log && "$run" -q --threads 1 --load w.safetensors --log log step.bin &&
    sed -n 's/.*"loss":\([0-9.]*\).*"grad_norm":\([0-9.]*\).*/\1 \2/p' log | head -1
