# RUN: %fsdpc compile -q net.fsd -o p && cp %fsdp-run fsdp-run && cp %build/device_cpu.so . && cp %build/tests/modules/device_cuda_emulated.so device_cuda.so && ./fsdp-run --quiet --device cuda p
# The device copies from pinned memory alone: a plan that keeps states in a file says what to do instead.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
==== net.fsd
module Net { emb : Embedding(8, 4); out : Linear(4, 8); forward(x) = out(emb(x)) }
model = Net
data { train = synthetic_tokens(vocab = 8); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1 }
shard { offload = (states = cpu, path = ".") }
==== err
error: the plan keeps 512 bytes a rank in a file of .; device cuda cannot copy from there
help: compile without path in shard.offload: they are in host memory then
==== exit 2
