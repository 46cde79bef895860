# RUN: for i in 1: -1.0 '0, 1'; do sed "s/INDEX/$i/" m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E 'error|help'; done; true
# Arrays of modules have no ranges.
==== m.fsd
module Net { f : Linear(4, 4)[3]; forward(x) = f[INDEX](x) }
model = Net
data { train = synthetic(x = [4], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 1 }
==== out
error[E0209]: `f` has elements 0 to 2
  = help: an index is one integer, as in f[0] or f[-1]
error[E0209]: `f` has elements 0 to 2
  = help: an index is one integer, as in f[0] or f[-1]
error[E0209]: `f` has elements 0 to 2
  = help: an index is one integer, as in f[0] or f[-1]
