# RUN: for s in "" "--preset big" "--preset big --deepspeed ds.json" "--preset big --deepspeed ds.json -s train.batch=15"; do %fsdpc dump --stage=config $s net.fsd 2>&- | grep -E '^  (batch|accumulate|D) ' | head -3; done
# The file gives way to the preset, that to the imported file, that to -s.
==== net.fsd
config { D = 2 }
preset "big" { D = 8 }
train { batch = D; accumulate = 1 }
==== ds.json
{"train_batch_size": 12, "gradient_accumulation_steps": 3}
==== out
  D                = 2                        # net.fsd:1
  batch            = 2                        # net.fsd:3
  accumulate       = 1                        # net.fsd:3
  D                = 8                        # preset "big"
  batch            = 8                        # net.fsd:3
  accumulate       = 1                        # net.fsd:3
  D                = 8                        # preset "big"
  batch            = 12                       # ds.json:1
  accumulate       = 3                        # ds.json:1
  D                = 8                        # preset "big"
  batch            = 15                       # -s
  accumulate       = 3                        # ds.json:1
