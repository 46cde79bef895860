# RUN: %fsdpc help exit-codes
# A chapter lists its pages.
==== out
exit-codes: how fsdpc and fsdp-run end

  0                     done
  1                     the user's mistake: command line, model file, option, key, shape, a plan for other ranks
  2                     the environment: something that this build or machine lacks, file not found, no memory, disk full
  3                     an input that is not what it claims to be: plan, weights, data
  4                     a rank failed or stopped answering
  5                     the loss or a gradient was not finite under on_nan = stop
  130                   interrupted; the step was finished and --save written
  134                   a bug of ours: the message names our file and line
