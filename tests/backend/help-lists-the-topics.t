# RUN: %fsdpc help | grep : ; %fsdpc help | grep -c 'dropout  attention'
# Without a topic all chapters are listed with their pages.
==== out
fsdpc help TOPIC, where TOPIC is a chapter or anything in it:
language: what a model file consists of
modules: the prelude: modules that every model file has
attributes: marks of parameters, after their initial value
inits: initial values of parameters
functions: functions of tensors, called in methods and in train.loss
numbers: functions of constants, called anywhere
data: where samples come from
train: loss, optimizer and length of the training
shard: how parameters, gradients and optimizer states are spread over the ranks
checkpoint: saving the state of a run
sources: where samples come from
optimizers: update rules
schedules: the learning rate over the steps
directives: settings of single parameters, in section train
precisions: dtypes of computation, master and reduction
units: rules for units
gradient scales: how the gradients of all ranks are combined
placements: settings of single modules and parameters, in section shard
commands: what fsdpc does
options: options of fsdpc
fsdp-run: options of fsdp-run, which trains a plan
environment: environment variables of fsdp-run
exit-codes: how fsdpc and fsdp-run end
warnings: warnings and notes by the names that -W takes
diagnostics: what fsdpc can report
1
