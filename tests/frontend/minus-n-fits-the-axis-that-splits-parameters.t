# RUN: sed 's/MESH/rep = 2, dp = 4/' m.txt > m.fsd; for n in 2 6; do %fsdpc dump --stage=model -n $n m.fsd | grep ^mesh; done; sed 's/MESH/rep = 2/' m.txt > m.fsd; %fsdpc dump --stage=model -n 8 m.fsd | grep ^mesh; %fsdpc dump --stage=config -n 8 m.fsd | grep ' mesh '
# -n keeps the other axes of the file's mesh; of a mesh of one axis it is the size.
==== m.txt
module Net { w : param[4, 4] = zeros; forward(ids: [B, T]) = gather(w, ids) }
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
shard { mesh = (MESH) }
==== out
mesh rep = 2, dp = 1
mesh rep = 2, dp = 3
mesh rep = 8
  mesh             = (rep = 8)                # -n
