# RUN: for v in 'adamw(1e-3, lr = 1)' 'adamw(betas = (0.9, 0.9, 0.9))' 'adamw(betas = (0.9, 2))' 'adamw(lr = "x")' 'sgd(momentum = 1)' 'adamw(lr = 1, 2)' 'sgd(0.1, 0.9, true, 0, 1)'; do %fsdpc dump --stage=config -s "train.optimizer=$v" %s 2>&1 | grep -E '^error|help:'; done; true
# RUN: for v in 'bf16(reduce = f16)' 'bf16(master = bf16)' 'f32(1)' 'bf17'; do %fsdpc dump --stage=config -s "train.precision=$v" %s 2>&1 | grep -E '^error|help:'; done; true
# RUN: %fsdpc dump --stage=config -s 'shard.unit=size(leaf = ["x"])' -s 'data.order=shuffle(1)' -s 'train.clip=gelu(3)' %s 2>&1 | grep -E '^error|help:'; true
# Each kind of mistake in the arguments of a setting says what is wrong and what it takes.
==== m.fsd
module Net { w : param[4] = zeros }
model = Net
==== out
error[E0312]: `lr` of `adamw` is given twice
  = help: adamw(lr: real = 1e-3, betas: list of 2 reals = (0.9, 0.999), eps: real = 1e-8, weight_decay: real = 0.01)
error[E0310]: `betas` of `adamw` must be a list of 2 numbers, not of 3
error[E0311]: each element of `betas` of `adamw` must be below 1, not 2
error[E0310]: `lr` of `adamw` must be a number, not a string
error[E0311]: `momentum` of `sgd` must be below 1, not 1
error[E0312]: an argument without a name cannot follow `lr = ..`
  = help: adamw(lr: real = 1e-3, betas: list of 2 reals = (0.9, 0.999), eps: real = 1e-8, weight_decay: real = 0.01)
error[E0312]: `sgd` takes at most 4 arguments, but 5 are given
  = help: sgd(lr: real = 1e-3, momentum: real = 0.0, nesterov: bool = false, weight_decay: real = 0.0)
error[E0313]: `reduce` of `bf16` cannot be `f16`
  = help: did you mean `bf16`?
error[E0390]: `master` of `bf16` = bf16 is not supported yet
error[E0310]: `reduce` of `f32` must be f32 or bf16, not an integer
error[E0313]: train.precision cannot be `bf17`
  = help: did you mean `bf16`?
error[E0312]: `size` needs `elements`
  = help: size(elements: int, leaf: list of names = [])
error[E0310]: each element of `leaf` of `size` must be a name, not a string
error[E0310]: data.order must be a name, not a call
error[E0207]: `gelu` is a function of tensors and can only be called in a method
