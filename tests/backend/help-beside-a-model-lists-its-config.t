# RUN: %fsdpc compile --help m.fsd --preset p -s G=5 | tail -n 6
# RUN: %fsdpc compile -q m.fsd -o p && %fsdpc dump --help p | tail -n 1; %fsdpc dump m.fsd --help | tail -n 1; %fsdpc dump --help bare.fsd | tail -n 1
# RUN: %fsdpc compile --help -s H=5 m.fsd >/dev/null
# With a model file, --help lists config names with their values, where these come from, and the model file's comments on them.
==== m.fsd
config { L = 2 "transformer blocks"; D = 4 * L "width"; G = 2 }
preset "p" { L = 5 }
module Net { fc : Linear(D, D); forward(x) = fc(x) }
model = Net
data  { train = synthetic(x = [D], y = D) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 4 }
==== bare.fsd
module Net { fc : Linear(8, 8); forward(x) = fc(x) }
model = Net
==== out

m.fsd, for -s NAME=VALUE:
config
  L                = 5                        # preset "p"; transformer blocks
  D                = 20                       # m.fsd:1; width
  G                = 5                        # -s
  -h, --help                 this text
  G                = 2                        # m.fsd:1
  -h, --help                 this text
==== err
error[E0303]: there is no config name `H`
 --> -s:1:1
  |
1 | H=5
  | ^
  |
  = help: known names: L, D, G

==== exit 1
