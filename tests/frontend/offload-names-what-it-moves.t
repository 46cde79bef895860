# RUN: for o in '(states = gpu)' '(stats = cpu)' '(states = cpu, buffers = 0)' '(params = cpu, path = "")' '(buffers = 2)' '(states = none)' '(states = cpu, states = none)' 'true' '(cpu)' '(states = cpu, pin = yes)' '(states = cpu, pin = true, path = "far")' '(states = cpu, pin = false, path = "far")'; do %fsdpc dump --stage=config %s -s "shard.offload=$o" 2>&1 >/dev/null | grep -E '^error|^warning|help'; done; true
# RUN: for o in adafactor sgd adamw; do %fsdpc dump --stage=config %s -s 'shard.offload=(states = cpu)' -s "train.optimizer=$o(lr = 0.1)" 2>&1 >/dev/null | head -1; done; true
# An invalid value of offload is reported with the valid ones; a value without effect gives a warning.
==== m.fsd
shard { }
==== out
error[E0313]: offload: states must be cpu or none
error[E0313]: offload has no `stats`
  = help: did you mean `states`?
error[E0313]: offload: buffers must be a number from 1 to 1000
error[E0313]: offload: path must be a folder in quotes
error[E0318]: offload moves nothing: set states, params or grads to cpu
error[E0318]: offload moves nothing: set states, params or grads to cpu
error[E0313]: offload: states is given twice
error[E0310]: shard.offload must be none or a list, not a boolean
  = help: `fsdpc help shard.offload` has an example
error[E0310]: shard.offload must be none or a list, not a name
  = help: `fsdpc help shard.offload` has an example
error[E0313]: offload: pin must be true or false
error[E0318]: offload: memory backed by a file cannot be pinned
  = help: remove pin, or remove path to pin host memory
warning[W0302]: memory backed by a file is never pinned: pin = false has no effect
warning[W0302]: optimizer = adafactor keeps no state for each weight: states = cpu has no effect
warning[W0302]: optimizer = sgd keeps no state for each weight: states = cpu has no effect
