# RUN: %fsdpc dump --stage=comm -n 2 -s train.precision=bf16 %root/tests/passes/model-t.fsd | sed '/#24 .*cast/s/$/\n  #900 %900: bf16[24] = cast(%1) !forward -/' | %fsdpc opt --pass=schedule - | sed -n '/!backward/,$d; s/^.* = \(cast\|unshard\)(.*!forward\( unit [0-9]\)\?.*/\1\2/p'
# A hand-written gather whose cast is not straight in front of it is not gathered before that cast.
==== out
cast unit 3
unshard unit 3
cast unit 0
unshard unit 0
cast unit 1
unshard unit 1
cast unit 2
unshard unit 2
cast
