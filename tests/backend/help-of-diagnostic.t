# RUN: %fsdpc help E0203
# The page of a diagnostic.
==== out
E0203 (error, exit code 1)

  division by zero

  The divisor of `/`, `//` or `%` is zero. Config names may have been changed by
  --preset or -s; `fsdpc dump --stage=config` shows each value and where it came from.
