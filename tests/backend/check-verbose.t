# RUN: %fsdpc compile -q tiny.fsd -n 2 -o b.bin -s train.accumulate=2 && %fsdpc check -v b.bin
# What each proof has proved, and for how much: a tied parameter has two contributions in each program.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  fc   : Linear(4, 4, bias = true)
  head : Linear(4, 256)
  tie head.weight = e.weight
  forward(x) = head(fc(e(x)))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = adam(lr = 0.1) }
==== out
1  reads come after writes: 116 operands of 82 instructions
2  live values stay apart: 54 values, 9 states
3  parameters are read while gathered: 3 gathers, 9 views
4  every contribution counts: 3 parameters, 8 contributions, 2 reductions
5  all ranks issue the same: 7 collectives, 2 ranks
6  the arena is as large as it must be: 19520 bytes
7  nothing waits for itself: 11 edges
8  the plan computes the model: 24 ops, 2 losses and metrics, 123 facts, dtypes of 29 results
9  checkpoints hold the state between two steps: 3 saves, 6264 bytes per rank, awaited by 1 instructions
10 ranks share out values only as ops allow: parts of 0 values, terms of 0 sums
