# RUN: truncate -s 70M big.fsd; %fsdpc dump --stage=config big.fsd
# A file of more than 64 MiB is refused.
==== m.fsd
config { }
==== err
error[E0108]: big.fsd has 73400320 bytes; a model file has at most 67108864

==== exit 1
