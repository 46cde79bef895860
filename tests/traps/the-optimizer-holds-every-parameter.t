# RUN: for s in full grads states none; do %fsdpc dump --stage=sched -n 2 -s shard.strategy=$s %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/p' | grep -oE '= sgd\(.*group = [0-9]+' | grep -oE 'group = [0-9]+'; done | sort | uniq -c
# An optimizer that was made before wrapping updates nothing; here every strategy updates each of 4 groups once.
==== out
      4 group = 0
      4 group = 1
      4 group = 2
      4 group = 3
