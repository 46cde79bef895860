# RUN: %fsdpc help warnings | sed -n 1,5p; %fsdpc help zero-lr; %fsdpc explain W0305 | tail -n 2; test $(%fsdpc help warnings | grep -c '^  [a-z]') = $(%fsdpc explain | grep -c '^W')
# Each warning has a name, by which -W chooses it.
==== out
warnings: warnings and notes by the names that -W takes

  unused-config         unused config name
  no-effect             setting has no effect
  unreachable           statements after `return`
zero-lr (warning W0305)

    -W no-zero-lr

  a learning rate of 0

-W no-zero-lr silences it.
