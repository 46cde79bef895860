# RUN: for T in 11520 11521 16384; do for H in 12 8; do %fsdpc dump %root/models/gpt2.fsd -n 1 -s L=1 -s seq=$T -s data.length=$T -s train.batch=1 -s H=$H --raw | sed -nE "s/.*bf16\[([0-9, ]*)\].*= attention_packed_grad.* workspace cpu 0 (cuda [0-9]+) .*/\1: \2/p"; done; done
# Where one head's scores are larger than cuDNN's backward may have, from 11,521 positions on, the workspace is that of
# the one-pass backward, if it has a kernel for the width: 4 T h bytes a head and delta.
==== out
1, 11520, 3, 12, 64: cuda 268989440
1, 11520, 3, 8, 96: cuda 268805120
1, 11521, 3, 12, 64: cuda 36371648
1, 11521, 3, 8, 96: cuda 368704
1, 16384, 3, 12, 64: cuda 51168256
1, 16384, 3, 8, 96: cuda 524288
