# RUN: acts() { %fsdpc dump --format=json %root/models/gpt2.fsd -s "shard.mesh=($1)" -s train.batch=1 -s train.precision=f32 -s data.length=$2 -s L=$3 -s shard.gather_again=${4:-true} 2>&- | %python -c 'import json, sys; print(json.load(sys.stdin)["predicted_peak_bytes"]["categories"]["activations"])'; }; for mesh in "dp = 1" "tp = 2" "tp = 4" "tp = 3" "tp = 6"; do case $mesh in *3|*6) t=1008;; *) t=1024;; esac; echo "$mesh, $t positions: $(($(acts "$mesh" $t 4) - $(acts "$mesh" $t 3)))"; done; echo "gathered once: $(($(acts "tp = 2" 1024 4 false) - $(acts "tp = 2" 1024 3 false)))"
# What a block of GPT-2 keeps for backward: 16 T values of 768 in f32, the statistics of two norms and of attention
# (16 T + 4 * 12 T bytes), of which a rank keeps its part: 50,397,184 bytes for 1024 positions, 49,609,728 for 1008.
# With gather_again = false it keeps the whole inputs of two products instead of its half: 3,145,728 bytes more.
==== out
dp = 1, 1024 positions: 50397184
tp = 2, 1024 positions: 25198592
tp = 4, 1024 positions: 12599296
tp = 3, 1008 positions: 16536576
tp = 6, 1008 positions: 8268288
gathered once: 28344320
