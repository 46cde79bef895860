# RUN: %fsdpc dump --stage=comm -n 2 -s train.precision=bf16 -s shard.prefetch=3 -s shard.inflight=4 %root/tests/passes/model-t.fsd | sed '1,/bf16.40. = cast.*!backward/s/!backward/!forward/' | %fsdpc opt --pass=schedule - | sed -n '/^program train/,/^end/s/.*unshard.*\(unit = [0-9]\).*\(![a-z]*\).*/\1 \2/p'
# A gather that begins its phase, and whose cast is of the phase before, stays where it is.
==== out
unit = 3 !forward
unit = 0 !forward
unit = 1 !forward
unit = 2 !forward
unit = 2 !backward
unit = 1 !backward
unit = 0 !backward
