# RUN: for o in '--raw --all' '--raw --format=json' '--only=e --format=json' '--all --stage=comm'; do %fsdpc dump $o m.fsd || echo $?; done
# Options that select lines apply only to the text for people.
==== m.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out
1
1
1
1
==== err
error[E0507]: --raw already shows everything; --all and --only do not apply
  = help: leave out --raw

error[E0507]: --raw is for the text of a plan

error[E0507]: --only is for the text of a plan

error[E0507]: --all is for the text of a plan

