# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -s train.steps=1000000000 -n 2
# RUN: mpirun -q --allow-run-as-root --oversubscribe --bind-to none -n 2 bash one.sh %fsdp-run > out 2> err & m=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; kill -USR1 `cat pid.1`; wait $m; cut -d' ' -f1 out; grep ^interrupted err; cat code.*; ls w*
# When one process of a run is interrupted all end with exit code 130, behind one save and one summary.
# NEEDS: tool:mpirun build:transport_mpi.so
==== one.sh
r=$OMPI_COMM_WORLD_RANK
"$1" --threads 1 --log log --save w p.bin & p=$!
echo $p > pid.$r
trap "" TERM
wait $p
echo "rank $r: $?" > code.$r
exit 0
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
steps
loss
last
best
tokens/s
model
arena
interrupted after a whole step; the weights are in w
rank 0: 130
rank 1: 130
w
