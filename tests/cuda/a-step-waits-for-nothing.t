# RUN: seq 300 >t.txt; for n in 1 2; do %fsdpc compile -q net.fsd -o %t/plan.bin -n $n && ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=%build/gpu/watch.so FSDP_WATCH=%t/$n %build/emulated/run/fsdp-run -n $n --device cuda --transport local --quiet %t/plan.bin && tr '{}' '\n\n' <%t/$n | grep -A1 steady | grep -o '"\(allocations\|releases\|waits\|metric_waits\)":[0-9]*' | paste -sd ' '; done
# With sixteen micro-batches the host still waits for nothing but the metrics, on each of the five streams, once a step.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so build:gpu/watch.so
# TIME: 60
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 32; steps = 8; accumulate = 16; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
"allocations":0 "releases":0 "waits":0 "metric_waits":25
"allocations":0 "releases":0 "waits":0 "metric_waits":25 "allocations":0 "releases":0 "waits":0 "metric_waits":25
