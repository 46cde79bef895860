# RUN: truncate -s 70M big.fsd; %fsdpc dump --stage=config big.fsd
# A file of more than 64 MiB is refused.
==== m.fsd
config { }
==== err
error[E0108]: big.fsd is larger than 64 MiB, the limit for a model file
  = help: keep data in separate files and name them in section data

==== exit 1
