# NEEDS: tool:zsh
# RUN: PATH=$(dirname %fsdpc):$PATH zsh -f drive.zsh
# The words come with their meanings; names that want a value are not followed by a blank.
==== drive.zsh
compdef() { print compdef $@ }
compset() { print compset $@ }
_files() { print files $@ }
_describe() { print -l "$3 ${@[5,-1]}" ${(P)4} }
source <(fsdpc completion zsh)
try() { words=($@); CURRENT=$#; print "> $*"; _fsdpc }
try fsdpc comp
try fsdpc dump --format=
try fsdpc compile -s train.o
try fsdpc compile -s train.on_nan=
try fsdp-run --load w
==== out
compdef _fsdpc fsdpc fsdp-run
> fsdpc comp
value 
compile:model file to plan
completion:a script that completes command lines
> fsdpc dump --format=
value 
--format=text:for people
--format=json:for tools
> fsdpc compile -s train.o
name -S

train.optimizer=:the update rule
train.on_nan=:what a loss or norm that is not finite does
> fsdpc compile -s train.on_nan=
value 
train.on_nan=stop:end the run with exit code 5
train.on_nan=skip:leave the weights as they are and go on
train.on_nan=continue:update all the same
> fsdp-run --load w
compset -P *=
files
