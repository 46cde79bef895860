# RUN: for s in 100B 5000B 1MB; do %fsdpc dump --raw -s checkpoint.snapshot=$s %s | grep -o '^save.*'; %fsdpc dump -s checkpoint.snapshot=$s %s | tr -s '\n ' ' ' | grep -o 'during the next step[^;]*'; done
# snapshot = SIZE copies as many of the states that a step overwrites last as go into it, each as a whole.
==== net.fsd
module Net {
  emb : Embedding(256, 4)
  fc  : Linear(4, 8)
  out : Linear(8, 256)
  forward(x) = out(relu(fc(emb(x))))
}
model = Net
data { train = text("t.txt"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; optimizer = sgd(lr = 0.1, momentum = 0.9) }
shard { mesh = (dp = 2); unit = Linear }
==== out
save 0 state 4 bytes 64
save 1 state 8 bytes 64
save 2 state 5 bytes 4096
save 3 state 9 bytes 4096
save 4 state 6 bytes 2048
save 5 state 10 bytes 2048
during the next step, none of which fit into the copy
saves through a copy of 4096 bytes
save 0 state 4 bytes 64
save 1 state 8 bytes 64
save 2 state 5 bytes 4096
save 3 state 9 bytes 4096
save 4 state 6 bytes 2048 copy @0
save 5 state 10 bytes 2048 copy @2048
during the next step, 2 of them from a copy of 4.00 KiB in host memory
saves through a copy of 12800 bytes
save 0 state 4 bytes 64 copy @0
save 1 state 8 bytes 64 copy @256
save 2 state 5 bytes 4096 copy @512
save 3 state 9 bytes 4096 copy @4608
save 4 state 6 bytes 2048 copy @8704
save 5 state 10 bytes 2048 copy @10752
during the next step from a copy of 12.5 KiB in host memory
