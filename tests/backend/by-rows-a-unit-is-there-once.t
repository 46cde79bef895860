# RUN: for s in full grads states; do for l in flat param; do %fsdpc dump --format=json -n 2 -s train.precision=f32 -s 'data.train=text("x")' -s data.val=none -s shard.strategy=$s -s shard.layout=$l %root/models/gpt2.fsd 2>&- | %python -c 'import json, sys; print(json.load(sys.stdin)["predicted_peak_bytes"]["categories"]["gathered_parameters"] >> 20)'; done | paste -s - | sed "s/^/$s:\t/"; done
# GPT-2 on two ranks, MiB gathered at the peak, flat and by rows: parameters that were copied out of a gathered buffer
# are there once.
==== out
full:	177	174
grads:	474	471
states:	474	471
