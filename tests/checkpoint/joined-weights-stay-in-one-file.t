# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --max-file 1KB --save w/ p && %fsdpc check ck && ls ck/*/model-*; for f in ck/*/model-*; do head -c 400 $f | grep -ao '"[a-z]*":{' | tr '\n' ' '; echo; done
# RUN: %fsdp-run -q --resume ck --steps 4 --max-file 1KB --save u/ p && diff -r w u && %fsdp-run -q --steps 0 --load ck/step-00000004 --save v p && %fsdp-run -q --steps 0 --load w --save x p && cmp v x && echo same
# A weight has its parts in one file of a checkpoint of form full, and so have those that it shares a tensor with, and what lies
# between them.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 12)
  a   : Linear(12, 7)
  c   : Linear(12, 5)
  b   : Linear(12, 14)
  out : Linear(26, 128)
  forward(x) { y = emb(x); return out(concat(a(y), c(y), b(y))) }
}
model = Net
names hf { "a.weight" = "p"[: 7]; "b.weight" = ["p"[7 : 14], "q"]; "*.weight" = "*" }
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 4; optimizer = sgd(lr = 0.01) }
shard { unit = Linear }
checkpoint { form = full }
==== out
ck/step-00000004/model-00001-of-00003.safetensors
ck/step-00000004/model-00002-of-00003.safetensors
ck/step-00000004/model-00003-of-00003.safetensors
"p":{ "c":{ "q":{ 
"out":{ 
"emb":{ 
same
