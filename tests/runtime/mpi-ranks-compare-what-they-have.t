# RUN: seq 300 > t.txt; bash each.sh %fsdpc "%fsdp-run"
# One message tells which rank has another plan, other options, no data, or a disk that is full; all end.
# NEEDS: tool:mpirun build:transport_mpi.so
# WAITS: for mpirun
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== rank1.sh
if [ $OMPI_COMM_WORLD_RANK = 1 ]; then shift 2; exec $run --quiet "$@"; else exec $run --quiet $2; fi
==== each.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
m="mpirun -q --oversubscribe --bind-to none -n 2"
export run="$2"
$1 compile -q toy.fsd -o p.bin -n 2; $1 compile -q toy.fsd -o q.bin -n 2 -s train.steps=3
end() { sed -E 's/process [0-9]+ on [^)]*/process/; s/[0-9a-f]{16}/HASH/g; s/^/    /' errors >&2; echo "$1"; }
$m bash rank1.sh - p.bin q.bin 2>errors; end "another plan $?"
$m bash rank1.sh - p.bin p.bin --steps 2 2>errors; end "other options $?"
$m bash rank1.sh - p.bin p.bin --data train=none.txt 2>errors; end "no data $?"
$m "$2" --quiet --data train=none.txt p.bin 2>errors; end "no data anywhere $?"
$m "$2" --quiet --log /dev/full p.bin 2>errors; end "disk full $?"
==== out
another plan 4
other options 4
no data 2
no data anywhere 2
disk full 2
==== err
    error: rank 1 (process) has a different plan than rank 0: HASH, not HASH
    help: copy the same p.bin to every machine
    error: rank 1 (process) was started with different options than rank 0
    help: --steps, --threads, --load, --save, --dump-grads, --eval-only, --tokens, --checkpoint, --checkpoint-every and --resume must be the same
    error: cannot open data file none.txt: No such file or directory
    help: data paths are relative to the working directory; --data train=PATH names another file
    note: this message is from rank 1 (process); 1 of 2 ranks could start
    error: cannot open data file none.txt: No such file or directory
    help: data paths are relative to the working directory; --data train=PATH names another file
    error: rank 0 (process): cannot write the log /dev/full: No space left on device
