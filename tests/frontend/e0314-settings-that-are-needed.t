# RUN: %fsdpc compile -o %t/p %s
# What is missing is named, with an example.
==== m.fsd
module Net {
  fc : Linear(4, 3)
  forward(x) = fc(x)
}
model = Net
==== err
error[E0314]: train.steps or train.epochs is needed
  = help: set how long to train, for example -s train.steps=100

error[E0314]: train.batch is needed
  = help: set the number of samples per step over all ranks, for example -s train.batch=8

error[E0314]: train.loss is needed
  = help: for example train { loss = cross_entropy(model(inputs), targets) }

error[E0314]: data.train is needed
  = help: for example data { train = tokens("train_*.bin"); length = 128 }

==== exit 1
