# RUN: for w in 1 2 3 4 5 6 7 8 9 10 12 16 20 24 32 48 64 96 128 512 1024; do e=$(%fsdpc dump --stage=model -n $w -s train.batch=$((w * 4)) net.fsd 2>&- | grep -o 'loss_exponent = -[0-9]*' | tr -dc 0-9); echo $w $((1 << (e - 2))); done | xargs
# Backward of f16 reduced in f16 starts at 1 / (targets of a rank * the factor before PyTorch's sum
# of W ranks): a power of two near the root of W.
==== net.fsd
module Net { fc : Linear(8, 4); forward(x) = fc(x) }
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); steps = 4; optimizer = sgd(lr = 0.5); precision = f16(reduce = f16) }
==== out
1 1 2 2 3 2 4 2 5 2 6 4 7 2 8 4 9 2 10 4 12 4 16 4 20 8 24 8 32 8 48 8 64 8 96 16 128 16 512 32 1024 32
