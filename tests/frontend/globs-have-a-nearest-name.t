# RUN: for p in 'ehad.*' '*.wieght' 'fc.*.biass' 'fc.*.c.d' '*.head.*' head fc.0. 'fc.*'.; do sed "s/sgd(lr = 0.5)/&; \"$p\" = frozen/" net.fsd >m; %fsdpc dump --stage=model m 2>&1 | grep -E '^error|help:'; done; true
# RUN: for p in 'fcc.*' 'gc.*' 'fc.*.weight'; do %fsdpc dump --stage=sched net.fsd -s "shard.unit=[[\"$p\"]]" 2>&1 | grep '^error'; done; true
# RUN: %fsdpc dump --stage=model net.fsd -s 'train.loss=cross_entropy(modle(x), y)' 2>&1 | grep -E '^error|help:'; true
# A path with `*`, or a module in a call, that is not there is an error with one that is, where one is near.
==== net.fsd
module Net {
  fc : Linear(8, 8, bias = true)[2]
  head : Linear(8, 4)
  forward(x) {
    for f in fc { x = relu(f(x)) }
    return head(x)
  }
}
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5) }
==== out
error[E0323]: "ehad.*" matches no parameter
   = help: did you mean `head.*`?
error[E0323]: "*.wieght" matches no parameter
   = help: did you mean `*.weight`?
error[E0323]: "fc.*.biass" matches no parameter
   = help: did you mean `fc.*.bias`?
error[E0323]: "fc.*.c.d" matches no parameter
error[E0323]: "*.head.*" matches no parameter
error[E0323]: "head" matches no parameter
   = help: did you mean `head.*`?
error[E0323]: "fc.0." matches no parameter
   = help: did you mean `fc.0.*`?
error[E0323]: "fc.*." matches no parameter
   = help: did you mean `fc.*.*`?
error[E0402]: unit "fcc.*": no module of that path; did you mean "fc.*"?
error[E0402]: unit "gc.*": no module of that path; did you mean "fc.*"?
error[E0402]: unit "fc.*.weight": no module of that path
error[E0207]: there is no function or module `modle` here
  = help: did you mean `model`?
