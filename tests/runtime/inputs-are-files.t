# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; mkfifo f; mkdir d; for a in "--data train=f" "--data train=d" "--data train=/dev/null" "--load f" "--load d"; do timeout 200 %fsdp-run --quiet $a p; echo $?; done
# RUN: head -c 20 t.txt > few; %fsdp-run --data train=few --steps 1 p 2>&1 > out | grep note; %fsdp-run --quiet --data train=few --steps 1 p
# A FIFO, a folder or a device as data or weights is refused at once; fewer samples than the batch are noted.
# NEEDS: build:device_cpu.so
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
2
2
2
2
2
note: data.train (few) has 3 samples, fewer than the batch of 6: each step repeats some
==== err
error: cannot open data file f: it is a FIFO; a regular file is required
error: cannot open data file d: it is a directory
error: cannot open data file /dev/null: it is a device; a regular file is required
error: cannot open f: it is a FIFO; a regular file is required
error: cannot load d: the folder has neither model.safetensors nor model.safetensors.index.json
help: files of several parts need their index, and weights in other formats, such as pytorch_model.bin, have to be saved as safetensors first
