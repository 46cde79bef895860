# RUN: %fsdpc help E0203
# The page of a diagnostic.
==== out
E0203 (error, exit code 1)

  division by zero

  The divisor of `/`, `//` or `%` is zero. --preset or -s may have changed a config value;
  `fsdpc dump --stage=config` shows every value and where it was set.
