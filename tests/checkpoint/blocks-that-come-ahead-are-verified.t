# RUN: seq 300 > t.txt; %fsdpc compile -q wide.fsd -n 2 -o p && %fsdp-run -q --threads 1 --steps 1 --checkpoint ck p; f=ck/step-00000001/rank-00000-of-00002.safetensors; for at in 9000000 16777215 20000000; do cp $f %t/whole; printf '\377' | dd of=$f bs=1 seek=$at conv=notrunc 2> /dev/null; %fsdp-run -q --threads 1 --steps 1 --resume ck p; %fsdpc check ck; mv %t/whole $f; done; truncate -s -1 $f; %fsdp-run -q --threads 1 --resume ck p; true
# Blocks that are read ahead of their use are verified like others, and a fault names what they hold.
# NEEDS: build:device_cpu.so
==== wide.fsd
module Wide {
  emb : Embedding(128, 20000)
  out : Linear(20000, 128)
  forward(x) = out(emb(x))
}
model = Wide
data { train = text("t.txt"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 7; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
==== err
error: rank 0: ck/step-00000001/rank-00000-of-00002.safetensors: tensor emb.weight: bytes 8388608 to 16777215 are damaged: checksum mismatch
help: no earlier checkpoint is intact
error[E0512]: ck/step-00000001/rank-00000-of-00002.safetensors: tensor emb.weight: bytes 8388608 to 16777215 are damaged: checksum mismatch
  = help: no earlier checkpoint is intact

error: rank 0: ck/step-00000001/rank-00000-of-00002.safetensors: tensor emb.weight: bytes 8388608 to 16777215 are damaged: checksum mismatch
help: no earlier checkpoint is intact
error[E0512]: ck/step-00000001/rank-00000-of-00002.safetensors: tensor emb.weight: bytes 8388608 to 16777215 are damaged: checksum mismatch
  = help: no earlier checkpoint is intact

error: rank 0: ck/step-00000001/rank-00000-of-00002.safetensors: tensor optimizer.state.emb.weight.exp_avg: bytes 16777216 to 25165823 are damaged: checksum mismatch
help: no earlier checkpoint is intact
error[E0512]: ck/step-00000001/rank-00000-of-00002.safetensors: tensor optimizer.state.emb.weight.exp_avg: bytes 16777216 to 25165823 are damaged: checksum mismatch
  = help: no earlier checkpoint is intact

error: rank 0: ck/step-00000001/rank-00000-of-00002.safetensors: tensor out.weight: the file has 30724095 bytes, not the 30724096 that were written
help: no earlier checkpoint is intact
