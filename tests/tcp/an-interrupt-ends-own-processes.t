# RUN: %root/tests/tcp/hub %build %t; seq 3000 > t.txt; %t/fsdpc compile -q toy.fsd -o p -n 3; bash each.sh %t/fsdp-run
# Ctrl-C ends all processes behind a step with one summary; a second one ends them at once; when fsdp-run is killed they are gone.
# NEEDS: build:device_cpu.so build:tests/modules/tcp_hub.so
# TIME: 60
# WAITS: for time-outs
==== toy.fsd
module Toy { emb : Embedding(128, 8); out : Linear(8, 128); forward(x) = out(emb(x)) }
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 1000000
        optimizer = adamw(lr = 0.01) }
==== each.sh
run="$1 --threads 1 --device cuda --transport nccl --log log p --save weights"
begin() { rm -f log weights; $run >out 2>err & pid=$!; until [ -s log ] && [ "$(grep -c '"step"' log)" -gt 3 ]; do sleep 0.1; done; }
left() { for i in $(seq 600); do [ -z "$(pgrep -f "^$1 .*--log log p")" ] && break; sleep 0.1; done; pgrep -fc "^$1 .*--log log p"; }
begin; kill -INT $pid; wait $pid; echo "interrupted: $?, summaries $(grep -c ^steps out), $(ls weights), left $(left $1)"; grep -v -e ^step err
begin; pkill -STOP -n -f "^$1 .*--log log p"; kill -INT $pid; sleep 1; kill -INT $pid; wait $pid; echo "twice: $?, summaries $(grep -c ^steps out), left $(left $1)"; grep -v -e ^step -e ^device -e ^launcher err
begin; kill -KILL $pid; wait $pid 2>wait; echo "killed: $?, left $(left $1)"
==== out
interrupted: 130, summaries 1, weights, left 0
device cuda, transport nccl, 3 ranks of 1 thread
launcher fsdp-run: rank 0 of 3, local rank 0 of 3
interrupted: finishing this step, then saving the weights; a second Ctrl-C ends the run at once
interrupted after a whole step; the weights are in weights
twice: 130, summaries 0, left 0
interrupted: finishing this step, then saving the weights; a second Ctrl-C ends the run at once
killed: 137, left 0
