# RUN: %fsdpc dump --stage=model main.fsd | grep -E '^(file|module)'
# `use` is relative to the file that uses, files are read once, config of the user's file wins.
==== main.fsd
use "parts/block.fsd"
use "parts/../parts/block.fsd"
use "std.fsd"
config { D = 3 }
model = Block
data { train = text("t"); length = 2 }
train { loss = cross_entropy(model(inputs), targets) }
==== parts/block.fsd
use "head.fsd"
config { D = 100 }
module Block {
  e : Embedding(7, D)
  head : Head(7)
  forward(x) = head(e(x))
}
==== parts/head.fsd
module Head(n) {
  fc : Linear(D, n)
  forward(x) = fc(x)
}
==== out
file 1 "main.fsd" 6a088afdd329a992
file 2 "block.fsd" 0055c5e7618ff320
file 3 "head.fsd" 0eff45fa0a40c256
file 4 "std.fsd" 626a9fa8569cb5e1
module 0 "" Block 1:5:9-5:14
module 1 "e" Embedding parent 0 2:4:3-4:4
module 2 "head" Head parent 0 2:5:3-5:7
module 3 "head.fc" Linear parent 2 3:2:3-2:5
