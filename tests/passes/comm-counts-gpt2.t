# RUN: %fsdpc dump --stage=sched -n 8 -s 'data.train=text("x")' -s data.val=none %root/models/gpt2.fsd | %python %root/tests/passes/order.py --counts
# GPT-2 by blocks, U = 13: 25 gathers and 13 reductions.
==== out
train: 25 A 13 R 1 M
eval: 13 A 1 M
