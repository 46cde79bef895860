# RUN: %fsdpc dump --stage=comm -n 2 -s train.precision=bf16 %root/tests/passes/model-t.fsd | sed '/#24 .*cast/s/$/\n  #900 %900: bf16[24] = cast(%1) !forward -/' | %fsdpc opt --pass=schedule -
# A hand-written gather whose cast is not straight in front of it passes the cast: an error, no abort.
==== err
error[E0521]: graph-1: program train, #20 unshard of u2: operand %25 is not there yet
  --> model-t.fsd:10:3
   |
   = help: an operand is the result of an earlier op of the same program

error[E0521]: pass `schedule` cannot work on this graph: its result breaks the rules above
  = help: it is unlike what the passes before `schedule` make; fsdpc dump --stage=comm shows such a graph

==== exit 1
