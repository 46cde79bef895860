# RUN: %fsdpc dump --raw tiny.fsd -n 2 | grep -a "^mesh\|^param\|^unit\|^group\|^state\|^field\|^source\|^call\|^role\|^program"
# Every table of a plan is in its text.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
mesh dp = 2
param 0 "e.weight" f32[256, 4] normal(0.02) key "e.weight" checkpoint "e.weight"
param 1 "out.weight" f32[256, 4] normal(0.02) key "out.weight" checkpoint "out.weight"
unit 0 "" M groups 0 below 2048 owned 2048
group 0 unit 0 trainable f32 f32 f32 params 0@0 1@1024 unpadded 2048 padded 2048 shard 1024
state 0 "step" step f64[16] @0
state 1 "staging" staging u8[2, 128] @256
state 2 "loss" metric i64[24] @512
state 3 "eval.loss" metric i64[24] @768
state 4 "param" param f32[1024] group 0 @1024
state 5 "scale" scale f64[8] @5120
field 0 "inputs" i32[2, 3] staging 0
field 1 "targets" i32[2, 3] staging 64
source train = text "a.txt" from 0 to 1
program train peak 20320
program eval peak 20064
call role 0 step train times 1
call role 0 evaluation eval times 1
role 0 ranks 0..1
