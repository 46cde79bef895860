# RUN: %fsdpc compile -q tiny.fsd -n 2 -o b.bin && %python %root/tests/backend/fault.py b.bin
# RUN: %fsdpc check b.bin
# A plan that is whole but wrong: the rule, the instruction, its place in the model, and why.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== err
error[E0510]: b.bin: check-1b: e tiny.fsd:4:20: view #6: operand 0 (value 1) is written by instruction 1 on stream gather, which may not have finished: no edge or stream order puts it before this one

==== exit 3
