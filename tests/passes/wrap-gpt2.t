# RUN: %fsdpc dump --stage=shard -s shard.unit=Block -n 8 %root/models/gpt2.fsd | sed -n 's/^unit .* \(below.*\)/\1/p' | uniq -c
# GPT-2 by blocks: 12 units of 7,087,872 elements, the tied embedding and 39,385,344 in the root.
==== out
     12 below 7087872 owned 7087872
      1 below 124439808 owned 39385344 root
