# RUN: cp %root/models/gpt2.fsd .; for t in FULL_STATE_DICT SHARDED_STATE_DICT; do printf "distributed_type: FSDP\nfsdp_config:\n  fsdp_state_dict_type: $t\nnum_processes: 2\n" > c.yaml; %fsdpc dump --stage=config --accelerate c.yaml gpt2.fsd | grep 'form '; done
# Which state dict Accelerate would save is the form of checkpoints.
==== out
  form             = full                     # c.yaml:3
    checkpoint.form = full
  form             = sharded                  # c.yaml:3
    checkpoint.form = sharded
==== err
note[W0311]: c.yaml: this key has no effect: distributed_type
  = help: fsdpc dump --stage=config --accelerate c.yaml says why

note[W0311]: c.yaml: this key has no effect: distributed_type
  = help: fsdpc dump --stage=config --accelerate c.yaml says why

