# RUN: for s in full grads states none; do for v in mean sum 'divide(8)'; do %fsdpc compile -q -n 4 -s shard.strategy=$s -s "shard.scale=$v" net.fsd -o p.bin 2>&- && %fsdp-run -q --threads 1 --steps 1 --log log p.bin && grep -o '"grad_norm":[0-9.e-]*' log | cut -d: -f2; done | %python -c 'a, b, c = map(float, open(0)); print(b / a, c / a)'; done
# RUN: %fsdpc compile -q -n 4 -s shard.scale=sum net.fsd -o p.bin 2>&- && %fsdp-run -q --threads 1 --save a p.bin; %fsdpc compile -q -n 4 -s 'train.optimizer=sgd(lr = 2)' net.fsd -o p.bin 2>&- && %fsdp-run -q --threads 1 --save b p.bin; cmp a b && echo as lr 2
# RUN: %fsdpc compile -q --mesh rep=2,dp=2 -s 'shard.scale=divide(1)' net.fsd -o p.bin 2>&- && %fsdp-run -q --threads 1 --save a p.bin; %fsdpc compile -q --mesh rep=2,dp=2 -s 'train.optimizer=sgd(lr = 2)' net.fsd -o p.bin 2>&- && %fsdp-run -q --threads 1 --save b p.bin; cmp a b && echo hybrid as well
# On 4 ranks the sum of their gradients is 4 times the mean, whatever the strategy.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  fc : Linear(8, 8, bias = true)[2]
  n : RMSNorm(8)
  head : Linear(8, 4)
  forward(x) {
    for f in fc { x = relu(f(x)) }
    return head(n(x))
  }
}
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5) }
shard { unit = Linear }
==== out
4.0 0.5
4.0 0.5
4.0 0.5
4.0 0.5
as lr 2
hybrid as well
