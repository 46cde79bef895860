# RUN: %fsdpc dump --stage=config m.fsd
# Presets are checked whether one is chosen or not.
==== m.fsd
config { width = 6 }
preset "a" { widht = 7 }
preset "b" { width = 8 }
preset "b" { width = 9 }
module Net {
  wte : Embedding(11, width)
  head : Linear(width, 11)
  forward(ids) = head(wte(ids))
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0303]: there is no config name `widht`
 --> m.fsd:2:14
  |
2 | preset "a" { widht = 7 }
  |              ^^^^^
  |
  = help: did you mean `width`?

error[E0304]: preset `b` is given twice
 --> m.fsd:4:1
  |
4 | preset "b" { width = 9 }
  | ^^^^^^^^^^
note: it is also given here
 --> m.fsd:3:1
  |
3 | preset "b" { width = 8 }
  | ^^^^^^^^^^

==== exit 1
