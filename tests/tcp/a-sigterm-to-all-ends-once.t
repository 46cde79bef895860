# RUN: seq 900 >t.txt; %fsdpc compile -q slow.fsd -o p -n 2; for how in "--transport tcp -n 2" "--restarts 2"; do timeout -s KILL 60 bash all.sh %fsdp-run -q --threads 1 --checkpoint ck $how; done
# Schedulers send one SIGTERM to all processes of a run, and who started the ranks passes it on: that is still one request, with a checkpoint.
# NEEDS: build:transport_tcp.so build:device_cpu.so
# TIME: 60
==== all.sh
"$@" --log log p &
until grep -q '"step":[3-9]' log 2>/dev/null; do sleep 0.02; done
kill -TERM $! $(pgrep -P $!) $(for c in $(pgrep -P $!); do pgrep -P $c; done)
wait $!
echo "exit $?, $(ls ck | grep -c step-) checkpoint"
rm -rf ck log
==== slow.fsd
module Net {
  emb : Embedding(128, 512)
  a : Linear(512, 2048)
  b : Linear(2048, 512)
  out : Linear(512, 128)
  forward(x) = out(b(relu(a(emb(x)))))
}
model = Net
data { train = text("t.txt"); length = 64 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 2000; optimizer = sgd(lr = 0.1); eval_every = none }
==== out
exit 130, 1 checkpoint
exit 130, 1 checkpoint
