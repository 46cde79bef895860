# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -e '^error' -e 'did you mean'
# Ten mistakes in one file, in settings and modules, are ten errors, none of which only follows from another.
==== net.fsd
config { D = 8; V = 16 }
preset "big" { Dim = 16 }
module Block {
  fc  : Linear(D, 2 * D, bias = yes)
  out : Linaer(2 * D, D)
  w   : param[D, D] = normaal(0.02)
  fc  : Linear(D, D)
  forward(x: [B, T, D]) = out(relu(fc(x)))
}
module Net {
  emb : Embedding(V, D)
  h : Block[2]
  forward(ids) { x = emb(ids); for b in h { x = b(x) }; return linear(x, emb.weight) }
}
model = Net
data { train = synthetic_tokens(vocab = V); lenght = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = "ten"; optimizer = adamw(betta = 0.9) }
shard { mesh = (dp = 2); strategy = ful; prefetch = -1 }
==== out
error[E0303]: there is no config name `Dim`
error[E0207]: there is no name `yes` here
error[E0217]: there is no module `Linaer`
  = help: did you mean `Linear`?
error[E0207]: there is no function or module `normaal` here
  = help: did you mean `normal`?
error[E0214]: module Block has two fields `fc`
error[E0301]: section data has no key `lenght`
   = help: did you mean `length`?
error[E0310]: train.steps must be an integer or none, not a string
error[E0312]: `adamw` has no argument `betta`
error[E0313]: shard.strategy cannot be `ful`
   = help: did you mean `full`?
error[E0311]: shard.prefetch must be at least 0, not -1
==== exit 1
