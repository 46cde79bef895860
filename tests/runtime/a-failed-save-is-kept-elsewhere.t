# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -s train.steps=1000000000 -n 2; mkdir d; export TMPDIR=$PWD/tmp; mkdir tmp
# RUN: sed -i 's|FSDP|%fsdp-run|' go.sh; . ./go.sh; go --save d/w; rm -r d; stop; go --save x; mkdir x; stop; ls
# A save that cannot be written where it should be is kept elsewhere, and the message says where.
# NEEDS: build:device_cpu.so
==== go.sh
go() { rm -f log; FSDP --quiet --threads 1 --log log "$@" p 2> err & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; }
stop() { kill -INT $p; wait $p; echo "exit $?"; sed "s/-[0-9]*$/-N/" err; python3 -c '
import sys, json; b = open(sys.argv[1], "rb").read(); n = int.from_bytes(b[:8], "little"); print(sorted(json.loads(b[8:8+n])), len(b))' ?.kept-*; mv ?.kept-* kept; }
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3 }
==== out
exit 2
error: rank 0: cannot write d/w: there is no folder d/
help: the file was kept as w.kept-N
['__metadata__', 'emb.weight', 'out.weight'] 4280
exit 2
error: rank 0: cannot write x: it is a directory
help: the file was kept as x.kept-N
['__metadata__', 'emb.weight', 'out.weight'] 4280
err
go.sh
kept
log
p
t.txt
tmp
toy.fsd
x
