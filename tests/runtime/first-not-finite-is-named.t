# RUN: for m in dp=1 dp=2; do for s in big=1e30 big=0; do %fsdpc compile -q net.fsd --mesh $m -s "$s" -o p.bin && %fsdp-run -q --threads 1 p.bin; echo $?; done; done 2>&1
# A step that is not finite runs again, to say which op's result was the first that is not, where in the model, and on which rank.
# NEEDS: build:device_cpu.so
==== net.fsd
config { big = 1 }
module Net {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(ids: [B, T]) {
    x = emb(ids)
    y = x * big
    z = exp(y * y)
    return out(x / z + log(y - y + big))
  }
}
model = Net
data { train = text("net.fsd"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
shard { unit = root }
==== out
error: step 0: loss 8.17181, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (nan) is that of net.fsd:7:9: fused #14
help: train.on_nan = skip leaves such steps out
5
error: step 0: loss nan, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (inf) is that of net.fsd:9:16: fused #7
help: train.on_nan = skip leaves such steps out
5
error: step 0: loss 8.17181, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (nan) is that of net.fsd:7:9: fused #15, on rank 0
help: train.on_nan = skip leaves such steps out
5
error: step 0: loss nan, gradient norm nan: not finite; the weights are those from before this step
note: the first result that is not finite (inf) is that of net.fsd:9:16: fused #8, on rank 0
help: train.on_nan = skip leaves such steps out
5
