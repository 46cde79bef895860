# RUN: %fsdpc compile --mesh dp=2,pp=2 m.fsd -o p
# An error about the mesh in effect points at --mesh, not at the mesh of the model file.
==== m.fsd
module M { fc : Embedding(8, 8)[2]; forward(x) = fc[0](x) + fc[1](x) }
model = M
data  { train = synthetic_tokens(vocab = 8); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 3; optimizer = sgd(lr = 1e-3) }
shard { mesh = (dp = 4); unit = Embedding }
==== err
error[E0409]: axis pp is not the first one of the mesh
 --> --mesh:1:1
  |
1 | dp=2,pp=2
  | ^^^^^^^^^
  |
  = help: ranks of a stage are neighbours: write pp before the others

==== exit 1
