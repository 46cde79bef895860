# RUN: run() { %fsdpc compile %s -o %t/p "$@" 2>&1 | grep '^  stage\|^error'; %fsdp-run -q --threads 1 --save %t/w %t/p && md5sum <%t/w; }; run --mesh dp=2 > one; run --mesh pp=2,dp=2 -s 'shard.stages=[["first"], ["h.*", "norm", "last"]]' > two; run --mesh pp=2,dp=2 -s shard.pipeline=interleaved -s 'shard.stages=[["first"], ["h.0"], ["h.1"], ["h.2", "last"]]' > four; head -qn -1 one two four; tail -qn 1 one two four | uniq -c | sed 's/ [0-9a-f]* *-$//'
# RUN: try() { %fsdpc compile -q %s -o %t/p --mesh pp=2 -s "shard.stages=$1" 2>&1 | grep '^error\|help:'; }; try '[["first", "h.0"], ["h.2", "last"]]'; try '[["first", "h.0"], ["h.*", "last"]]'; try '[["first", "h.1"], ["h.0", "h.2", "last"]]'; try '[["first"], ["h.*", "last.fd"]]'; try '[["first", "norm"], ["h.*", "last"]]'; try '[["first"], ["h"]]'; try '[["first"], ["h.*"], ["last"]]'; try '[["first"], []]'; try '["first", "last"]'; try '[["first"], [last]]'; true
# Lists of paths say which units a stage has, with the bits of one stage. Each unit is in one list, in the order of
# computation.
==== net.fsd
module Pair { fa, fb : Linear(8, 8)
  forward(x: [B, D]) { return fb(relu(fa(x))) } }
module Net {
  first : Linear(8, 8)
  h : Linear(8, 8)[3]
  norm : LayerNorm(8)
  last : Pair
  forward(x: [B, D]) { x = first(x); for f in h { x = relu(f(x)) }; return last(norm(x)) }
}
model = Net
data { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 16; accumulate = 4; steps = 3; optimizer = sgd(lr = 0.1) }
shard { unit = [Linear, Pair] }
==== out
  stage 0: 1 unit, 64 parameters; a rank peaks at 2.8 KiB, sends 1.8 KiB a step
  stage 1: 6 units, 336 parameters; a rank peaks at 8.2 KiB, sends 8.6 KiB a step
  stage 0: 1 unit, 64 parameters; a rank peaks at 5.8 KiB, sends 3.8 KiB a step
  stage 1: 1 unit, 64 parameters; a rank peaks at 9.0 KiB, sends 7.6 KiB a step
  stage 2: 1 unit, 64 parameters; a rank peaks at 5.8 KiB, sends 3.8 KiB a step
  stage 3: 4 units, 208 parameters; a rank peaks at 9.0 KiB, sends 7.6 KiB a step
      3
error[E0409]: no stage lists h.1
  = help: put each unit into the list of one stage
error[E0409]: stages 0 and 1 both list h.0
  = help: put a unit into one stage only
error[E0409]: stage 0 lists h.1, which is computed after h.0 of stage 1
  = help: list the units in the order in which they are computed
error[E0402]: stages "last.fd": no module of that path; did you mean "last.fa"?
error[E0409]: stage 0 lists norm, which is computed with h.2 in stage 1
  = help: what no unit computes belongs to the stage of the unit before it: list it there
error[E0403]: stages "h": an array of modules has no forward of its own
  = help: name its elements: "h.*"
error[E0409]: stages = 3 must be a multiple of pp = 2
error[E0318]: stages must be a number, or a list for each stage of module paths in quotes
error[E0318]: stages must be a number, or a list for each stage of module paths in quotes
error[E0318]: stages must be a number, or a list for each stage of module paths in quotes
