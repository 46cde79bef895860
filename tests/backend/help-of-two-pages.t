# RUN: %fsdpc help max
# A name of two things has two pages.
==== out
max (function of tensors)

  the maximum along an axis (not in this version)

max (function of constants)

    max(x: real..)

  the largest of its arguments

  arguments
    x: real..                       one constant or more

  example
    a = max(4, 10 // 3)
