# RUN: %fsdpc help exit-codes
# A chapter lists its pages.
==== out
exit-codes: how fsdpc and fsdp-run end

  0                     done
  1                     a user's mistake: command line, model, option, key, shape, ranks
  2                     the environment: unsupported here, no such file, no memory, disk full
  3                     an input that is not what it claims to be: plan, weights, data
  4                     a rank failed or stopped answering
  5                     a loss or gradient is not finite, or a computed id is out of range
  130                   interrupted; the step was finished and --save written
  134                   a bug in the program: the message names its file and line
