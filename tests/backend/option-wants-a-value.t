# RUN: %fsdpc compile x.fsd -o
# An option with a value cannot be the last word.
==== err
error[E0503]: `-o` needs FILE after it

==== exit 1
