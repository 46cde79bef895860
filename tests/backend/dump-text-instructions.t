# RUN: %fsdpc dump --raw tiny.fsd -n 2 | grep -a "unshard\|reduce_scatter\|all_reduce\|sgd"
# An instruction has stream, edges, addresses, place and predictions.
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
optimizer sgd lr 0.1 beta1 0 beta2 0 schedule constant warmup 0 final 1 loss_exponent -4
  #1 [gather] %1: f32[2048] @5376 = unshard(%0) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 1:6:9-6:10 flops 0 bytes 0 live 13568
  #16 [reduce] wait(#15) %17: f32[1024] @13568 = reduce_scatter(%16) {unit = 0, axes = (dp), comm = reduce, tag = gradient} !backward unit 0 1:6:9-6:10 flops 0 bytes 0 live 17664
  #19 [reduce] wait(#17) %20: i64[24] @512, %21: i64[24] @17664 = all_reduce(%11, %18) {unit = -1, axes = (dp), comm = reduce, tag = metric} !update 1:6:9-6:10 flops 0 bytes 0 live 9728
  #23 %23: f32[1024] @1024 = sgd(%0, %17, %22, %2) {group = 0, weight_decay = 0, clip_value = 0} !update 1:6:9-6:10 after 1 save flops 1024 bytes 12480 live 9472
  #26 [gather] %25: f32[2048] @5376 = unshard(%24) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 1:6:9-6:10 flops 0 bytes 0 live 13568
  #37 [reduce] wait(#36) %37: i64[24] @768 = all_reduce(%35) {unit = -1, axes = (dp), comm = reduce, tag = metric} !forward flops 0 bytes 0 live 5376
