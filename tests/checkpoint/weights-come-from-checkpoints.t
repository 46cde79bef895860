# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --save w p; %fsdpc compile -q net.fsd -n 3 -o q -s 'train.optimizer=sgd(lr = 0.1)' -s train.batch=6; for from in w ck ck/step-00000008; do %fsdp-run --eval-only --load $from q 2> /dev/null | grep loss; %fsdp-run -q --load $from --save v q; cksum < v; done
# --load takes the weights of a checkpoint alone: for another optimizer, batch and number of ranks; --eval-only and --generate too.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 12)
  fc  : Linear(12, 20, bias = true)
  out : Linear(20, 128)
  forward(x) = out(relu(fc(emb(x))))
}
model = Net
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 8; optimizer = adamw(lr = 0.01); eval_every = 2 }
shard { unit = Linear }
==== out
eval loss       4.70184
405030905 17752
eval loss       4.70184
405030905 17752
eval loss       4.70184
405030905 17752
