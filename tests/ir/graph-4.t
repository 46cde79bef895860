# RUN: %fsdpc opt --pass= %s
# graph-4: an attribute out of its range is found.
==== graph.txt
graph train
program train
  #0 %0: f32[2] = fill {alpha = nan} !forward -
  #1 %1: f32[2] = gelu(%0) {approx = 2} !forward -
  #2 %2: f32[2] = relu(%1) !forward unit 0 -
end
==== err
error[E0521]: graph-4: program train, #0 fill: alpha = nan
  = help: attributes are in range: words known, rows present, reals finite

error[E0521]: graph-4: program train, #1 gelu: approx = 2
  = help: attributes are in range: words known, rows present, reals finite

error[E0521]: graph-4: program train, #2 relu: has unit 0, but the graph has 0 units
  = help: attributes are in range: words known, rows present, reals finite

==== exit 1
