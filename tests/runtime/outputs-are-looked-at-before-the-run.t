# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && %fsdp-run --quiet --save w p; mkdir d; mkfifo f; ln -s /dev/full full; ln t.txt hard; ln -s p soft; ln -s none/x lost; ln -s loop loop; ln -s d/../w2 w1; touch log
# RUN: for a in "--save f" "--save full" "--save p" "--save soft" "--save hard" "--save toy.fsd" "--save lost" "--save loop" "--save no/w" "--load w --save w" "--log f" "--log d" "--log t.txt" "--log log --save ./log" "--dump-grads 0=w1 --save w2" "--dump-grads 0=d"; do %fsdp-run --quiet $a p; echo "$a: $?"; done
# RUN: seq 300 | cmp - t.txt; test -p f && test -L soft && test -L full && %fsdp-run --quiet p && ls
# A file that cannot be written, is read by the run, or is named twice, is refused before the first step.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3 }
==== out
--save f: 1
--save full: 1
--save p: 1
--save soft: 1
--save hard: 1
--save toy.fsd: 1
--save lost: 2
--save loop: 2
--save no/w: 2
--load w --save w: 1
--log f: 2
--log d: 2
--log t.txt: 1
--log log --save ./log: 1
--dump-grads 0=w1 --save w2: 1
--dump-grads 0=d: 2
d
f
full
hard
log
loop
lost
p
soft
t.txt
toy.fsd
w
w1
==== err
error: cannot write f: it is a FIFO
help: name a file to create or replace
error: cannot write full: it is a device
help: name a file to create or replace
error: --save p would overwrite the plan of this run (p)
error: --save soft would overwrite the plan of this run (p)
error: --save hard would overwrite the data of this run (t.txt)
error: --save toy.fsd would overwrite the model of this run (toy.fsd)
error: cannot write lost: there is no folder none/
error: cannot write loop: Too many levels of symbolic links
error: cannot write no/w: there is no folder no/
error: --save w would overwrite the weights to load of this run (w)
error: cannot write f: no program reads from it
error: cannot write d: it is a directory
error: --log t.txt would overwrite the data of this run (t.txt)
error: --save ./log and --log log are the same file
error: --dump-grads w1 and --save w2 are the same file
error: cannot write d: it is a directory
