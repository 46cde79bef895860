# RUN: %fsdpc dump --stage=config --deepspeed c.json m.fsd | tail -2
# A key without a meaning here is named when the file is read; the dump has the reason.
==== m.fsd
shard { }
==== c.json
{"steps_per_print": 10}
==== out
  steps_per_print = 10
    has no effect: fsdp-run shows the progress
==== err
note[W0311]: c.json: this key has no effect: steps_per_print
  = help: fsdpc dump --stage=config --deepspeed c.json says why

