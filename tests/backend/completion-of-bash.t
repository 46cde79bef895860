# RUN: PATH=$(dirname %fsdpc):$PATH; source <(fsdpc completion bash); while IFS= read -r COMP_LINE; do COMP_POINT=${#COMP_LINE}; _fsdpc_bash 2>&1; echo "$COMP_LINE|${COMPREPLY[*]}"; done <lines
# Commands, options, their words, keys and names after -s, presets, passes, topics and files are
# completed; after `=` and a comma only what follows is given back.
==== m.fsd
config { L = 2; D = L }
preset "big" { L = 3 }
==== lines
fsdpc expl
fsdpc co
fsdpc dump --stage=sc
fsdpc dump --stage=sh
fsdpc compile m
fsdpc fit --machine m
fsdpc compile m.fsd --preset 
fsdpc compile m.fsd -s train.o
fsdpc compile m.fsd -s D
fsdpc compile m.fsd --set=train.on_nan=s
fsdpc opt --pass=grad,fuse_
fsdpc help att
fsdpc completion 
bin/fsdp-run --save-dtype 
fsdp-run --tran
fsdp-run --load m
fsdpc no-command --
==== out
fsdpc expl|explain
fsdpc co|compile convert completion
fsdpc dump --stage=sc|sched schedule
fsdpc dump --stage=sh|shard
fsdpc compile m|m.fsd
fsdpc fit --machine m|m.fsd
fsdpc compile m.fsd --preset |big
fsdpc compile m.fsd -s train.o|train.optimizer= train.on_nan=
fsdpc compile m.fsd -s D|D=
fsdpc compile m.fsd --set=train.on_nan=s|stop skip
fsdpc opt --pass=grad,fuse_|grad,fuse_packed_attention grad,fuse_gelu grad,fuse_backward grad,fuse_norm grad,fuse_loss grad,fuse_elementwise grad,fuse_sums
fsdpc help att|attributes attention
fsdpc completion |bash zsh
bin/fsdp-run --save-dtype |f32 bf16 f16
fsdp-run --tran|--transport
fsdp-run --load m|m.fsd
fsdpc no-command --|
