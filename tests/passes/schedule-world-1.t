# RUN: %fsdpc dump --stage=sched -n 1 -s train.precision=bf16 %root/tests/passes/model-t.fsd | sed -n '/^program/,$p' | grep -c -F -e '[gather]' -e '[reduce]' || true
# One rank: everything is on compute.
==== out
0
