# RUN: %fsdpc compile -q net.fsd -o p && %fsdp-run --quiet p
# The folder of shard.offload is not there: said before anything is trained, with what to do.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { emb : Embedding(8, 4); out : Linear(4, 8); forward(x) = out(emb(x)) }
model = Net
data { train = synthetic_tokens(vocab = 8); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1 }
shard { offload = (states = cpu, path = "no/such/folder") }
==== err
error: cannot create a file of 512 bytes in no/such/folder for offloaded state: No such file or directory
help: shard.offload = (.., path = "folder") must name a folder with room for the ranks of this machine
==== exit 2
