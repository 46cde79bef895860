# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# What follows an invalid character, or an open string, on its line is not reported.
==== m.fsd
config { a = 2 ^ 3 4; b = a > 2 ? 3 : 4 }
preset 'big' { a = 3 }
preset "small { a = 1 }
config { c = a && (b || d) }
==== out
error[E0109]: `^` is not allowed here
 --> m.fsd:1:16
  = help: write powers with `**`; in a names table write ^T inside the quotes: "weight^T"
error[E0109]: `?` is not allowed here
 --> m.fsd:1:33
  = help: `if` is a statement: if condition { x = a } else { x = b }
error[E0109]: `'big'` is not allowed here
 --> m.fsd:2:8
  = help: write strings in double quotes
error[E0102]: this string is not closed
 --> m.fsd:3:8
  = help: a string ends with `"` on the same line
error[E0109]: `&&` is not allowed here
 --> m.fsd:4:16
  = help: the logical operators are `and`, `or`, `not`
error[E0109]: `||` is not allowed here
 --> m.fsd:4:22
  = help: the logical operators are `and`, `or`, `not`
==== exit 1
