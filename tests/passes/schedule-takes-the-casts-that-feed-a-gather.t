# RUN: %fsdpc dump --stage=comm -n 2 -s train.precision=bf16 -s shard.prefetch=0 %root/tests/passes/model-t.fsd > t; for e in '' '/#24 .*cast/s/^/  #900 %900: bf16[24] = cast(%1) !forward -\n/' '/#24 .*cast/s/$/\n  #900 %900: bf16[24] = cast(%1) !forward -/'; do sed "$e" t | %fsdpc opt --pass=schedule - > out && grep -c '= cast' out && grep -c 'gather.*= cast' out; done
# A cast in front of a gather is on its stream only if it feeds the gather.
==== out
11
11
12
11
12
10
