# RUN: layers() { %fsdpc dump --stage=stage "$@" 2>/dev/null | awk '/^program train/ { on = 1 } /^end/ { on = 0 } on && match($0, /"(h|layers)[.][0-9]+/) { layer = substr($0, RSTART + 1, RLENGTH - 1); stage = match($0, / stage [0-9]+/) ? substr($0, RSTART + 7, RLENGTH - 7) : 0; if (!((layer, stage) in seen)) { seen[layer, stage] = 1; if (layer in of) twice++; else { of[layer] = stage; n[stage + 0]++; all++ } } } END { printf "%d layers, %d in two stages:", all, twice; for (s = 0; s in n; s++) printf " %d", n[s]; print "" }'; }; layers %root/models/gpt2.fsd -s L=30 --mesh pp=4; layers %root/models/llama3.fsd --preset 405b --mesh pp=16,dp=8,tp=8 -s train.accumulate=16 -s train.batch=128; layers %root/models/llama3.fsd --preset 405b --mesh pp=16,dp=8,tp=8 -s train.accumulate=16 -s train.batch=128 -s shard.pipeline=interleaved -s shard.stages=32
# No layer is lost and none is cut, forward or backward, where stages do not have equally many; the last one has the head, too.
==== out
30 layers, 0 in two stages: 8 9 9 4
126 layers, 0 in two stages: 7 8 8 8 8 8 8 8 8 8 8 8 8 8 8 7
126 layers, 0 in two stages: 3 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 3
