# RUN: %fsdpc dump --only=h.4.b m.fsd
# With --only a module stands alone, with what gathers it.
==== m.fsd
module Block { a : Linear(8, 16); b : Linear(16, 8); forward(x) = x + b(relu(a(x))) }
module M {
  e    : Embedding(32, 8)
  h    : Block[6]
  out  : Linear(8, 32)
  forward(x) {
    y = e(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = M
data  { train = text("a.txt"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = adamw(lr = 0.1) }
shard { unit = Block; mesh = (dp = 2) }
==== out

program train: once a step; 209 instructions, peak 24.5 KiB
===========================================================

       compute                                             writes  gather          reduce                 line      live
--- forward h.4 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#52    linear b <- relu, .weight                            256 B  |                                         1  21.8 KiB
--- backward h.4 Block --------------------------------------------------------------------------------------- 8.4 kFLOP
#82    linear_grad_weight b <- h.5.a.add', relu             512 B  |               |                         1  24.0 KiB
#84    linear_grad_input b <- h.5.a.add', .weight           512 B  <- h.4          |                         1  24.5 KiB
       ==== the peak: 24.5 KiB live ====

program eval: once for each batch of an evaluation; 68 instructions, peak 18.5 KiB
==================================================================================

       compute                                                writes  gather          reduce              line      live
--- forward h.4 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#261   linear b <- relu, .weight                               256 B  |                                      1  18.5 KiB
