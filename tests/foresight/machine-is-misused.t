# RUN: %fsdpc machine -n 2; %fsdpc machine -o a; %fsdpc machine --plan --fit -n 2 -o a; %fsdpc machine --fit -o a; %fsdpc machine a.json -n 2 -o a; %fsdpc machine -n 2 --device cuda -o a; %fsdpc machine -n 2 --threads 0 -o a; %fsdpc machine -n 5000 --plan -o a; ls
# What is missing or does not go together is said before anything runs.
==== err
error[E0504]: `fsdpc machine` needs -o for what it writes
  = help: -o here.machine

error[E0504]: `fsdpc machine` needs -n RANKS, the ranks of this machine
  = help: for example -n 2

error[E0503]: --plan and --fit exclude each other
  = help: first --plan, then runs, then --fit

error[E0504]: --fit needs the traces that fsdp-run --profile wrote
  = help: fsdpc machine --fit TRACE.. -o new.machine

error[E0504]: `fsdpc machine` takes files with --fit only
  = help: fsdpc machine --fit TRACE.. -o new.machine

error[E0503]: GPUs are measured with --plan and --fit
  = help: `fsdpc machine --help` says how, in three steps

error[E0503]: `--threads` takes a number of threads from 1 to 65536, not `0`

error[E0503]: -n is at most 4096 here

