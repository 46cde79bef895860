# RUN: %fsdpc opt --pass= %s
# graph-3: types and counts follow the signatures.
==== graph.txt
graph train
program train
  #0 %0: f32[4, 3] = fill {alpha = 1} !forward -
  #1 %1: f32[5, 2] = fill {alpha = 1} !forward -
  #2 %2: f32[4, 5] = linear(%0, %1) !forward "fc"
  #3 %3: f32[4, 7] = relu(%0) !forward -
  #4 %4: f32[4, 3] = add(%0) !forward -
end
==== err
error[E0521]: graph-3: program train, #2 linear of fc: w f32[5, 2] has D = 2, x f32[4, 3] has D = 3
  = help: counts and types of operands and results follow the op's signature

error[E0521]: graph-3: program train, #3 relu: result y must be f32[4, 3], not f32[4, 7]
  = help: counts and types of operands and results follow the op's signature

error[E0521]: graph-3: program train, #4 add: takes 2 operands, not 1
  = help: counts and types of operands and results follow the op's signature

==== exit 1
