# RUN: %fsdpc dump --stage=model -n 3 m.fsd; %fsdpc dump --stage=model -n 3 --mesh rep=2,dp=2 m.fsd; %fsdpc dump --stage=model --mesh dp=2,dp=2 m.fsd; %fsdpc dump --stage=model --mesh cp=2,zigzag=2 m.fsd
# Ranks that are not a multiple of the other axes, or differ from --mesh, and an axis given twice are errors, as are two axes that share out positions.
==== m.fsd
module Net { w : param[4, 4] = zeros; forward(ids: [B, T]) = gather(w, ids) }
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
shard { mesh = (rep = 2, dp = 4) }
==== err
error[E0406]: -n 3 is not divisible by the 2 ranks of the mesh's other axes
 --> m.fsd:5:16
  |
5 | shard { mesh = (rep = 2, dp = 4) }
  |                ^^^^^^^^^^^^^^^^^
  |
  = help: give the sizes of all axes with --mesh

error[E0406]: -n 3, but the mesh has 4 ranks
  = help: give -n or --mesh, not both

error[E0406]: axis dp is given twice
 --> --mesh:1:6
  |
1 | dp=2,dp=2
  |      ^^^^

error[E0406]: axes cp and zigzag both share out positions
 --> --mesh:1:6
  |
1 | cp=2,zigzag=2
  |      ^^^^^^^^
  |
  = help: use one of them

==== exit 1
