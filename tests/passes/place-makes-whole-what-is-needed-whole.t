# RUN: %fsdpc dump --stage=place %s | sed -n '/^program train/,/^end/p' | grep 'pad_part\|all_reduce\|= part' | sed 's/ !.*//'
# Dropout of hidden values draws by their place in the whole: parts become whole before it, and parts
# again after it.
==== net.fsd
module Net {
  up   : Linear(8, 12)
  down : Linear(12, 4)
  forward(x) = down(dropout(relu(up(x)), 0.5))
}
model = Net
data  { train = synthetic(x = [8], y = 4, samples = 64) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 2, tp = 3) }
==== out
