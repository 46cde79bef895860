# RUN: %fsdpc dump --stage=comm -n 2 -s 'train.optimizer=adamw(lr = 0.1)' %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/p' | grep -E '= (grad_norm|adam)' | grep -oE '= (grad_norm|adam)\(|(group) = [0-9]+' | paste - - | sort | uniq -c
# Each trained group is updated once, from its own reduced gradient.
==== out
      1 = adam(	group = 0
      1 = adam(	group = 1
      1 = adam(	group = 2
      1 = adam(	group = 3
      1 = grad_norm(	group = 0
      1 = grad_norm(	group = 1
      1 = grad_norm(	group = 2
      1 = grad_norm(	group = 3
