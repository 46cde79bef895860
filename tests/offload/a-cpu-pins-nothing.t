# RUN: for o in true false; do %fsdpc compile -q -s "shard.offload=(states = cpu, pin = $o)" net.fsd -o p && %fsdp-run --device cpu p 2>&1 | grep -E '^note|^host'; done
# On the device cpu, whose memory is the host's, pin = false says that it has no effect.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { emb : Embedding(8, 4); out : Linear(4, 8); forward(x) = out(emb(x)) }
model = Net
data { train = synthetic_tokens(vocab = 8); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1 }
==== out
host bytes      512 per rank, offloaded
note: pin = false has no effect on device cpu, which uses host memory and pins nothing
host bytes      512 per rank, offloaded
