# RUN: seq 90 > t.txt; %fsdpc compile -q toy.fsd -o p && %fsdp-run -q --threads 1 --save w p; for a in "" "-s train.predict=none" "-s data.val=none"; do %fsdpc compile -q toy.fsd $a -o q; %fsdp-run -q --load w --predict out.npy q; echo $?; done; for a in "" "--load w --eval-only" "--load w --generate a" "--load w --steps 1" "--load w --tensorboard tb"; do %fsdp-run -q --predict out.npy $a p 2>&1 | grep -v ^help; done; true
# RUN: %fsdp-run -q --load w --predict none/out.npy p; echo $?; %fsdp-run -q --load w --predict w p; echo $?; mkdir d; cp t.txt kept.npy; chmod 640 kept.npy; ln -s ../kept.npy d/link.npy; %fsdp-run -q --load w --predict d/link.npy p && stat -c %a kept.npy && wc -c < kept.npy && test -L d/link.npy && echo link; ls d
# RUN: for e in 'mean(model(inputs))' 'model.emb.weight' 'cross_entropy(model(inputs), targets)' 'transpose(model(inputs), [1, 2, 0])' 'model(nothing)'; do %fsdpc compile -q toy.fsd -s "train.predict=$e" -o r; done 2>&1 | grep -v '^ *|\|^ *-->\|^$'; true
# Mistakes with --predict and train.predict get a message with a remedy, before anything runs.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 8)
  out : Linear(8, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); predict = model(inputs)[:, -1]; batch = 4; steps = 2 }
==== out
0
1
1
error: --predict needs weights: --load FILE
error: --eval-only and --predict exclude each other
error: --generate and --predict exclude each other
error: --predict does not train, so it excludes --steps
error: --predict reports no metrics, so it excludes --tensorboard
2
1
640
26880
link
link.npy
error[E0229]: train.predict must be a tensor whose first axis is that of the samples, not a mean or sum over the batch
1 | train.predict=mean(model(inputs))
  = help: for example predict = softmax(model(x))
error[E0229]: train.predict must be a tensor whose first axis is that of the samples, not a parameter of shape [128, 8]
1 | train.predict=model.emb.weight
  = help: for example predict = softmax(model(x))
error[E0229]: train.predict must be a tensor whose first axis is that of the samples, not a loss or metric
1 | train.predict=cross_entropy(model(inputs), targets)
  = help: for example predict = softmax(model(x))
error[E0208]: the batch axis must stay the first axis
1 | train.predict=transpose(model(inputs), [1, 2, 0])
  = help: keep the first axis where it is
error[E0207]: the data source has no field `nothing`
1 | train.predict=model(nothing)
  = help: its fields are: inputs, targets
==== err
error: --predict: the plan does not say what to predict
help: compile with -s 'train.predict=softmax(model(x))', or another tensor of the model
error: --predict: the plan has no data.val
help: compile with -s 'data.val=text("file")', or another source
error: cannot write none/out.npy: there is no folder none/
error: --predict w would overwrite the weights to load of this run (w)
