# RUN: %fsdpc help max
# A name of two things has two pages.
==== out
max (function of tensors)

    max(x: tensor, y: tensor?, axis: int or list of ints?)

  the largest of two values, element by element; without y the largest along axes, which stay with
  size 1

  arguments
    x: tensor                       any shape
    y: tensor = none                a shape that broadcasts with x
    axis: int or list of ints = none
                                    one or a list: from 0; from -1 back from the last; none: all

  example
    y = max(x, 0) - max(x, axis = -1)

max (function of constants)

    max(x: real..)

  the largest of its arguments

  arguments
    x: real..                       one constant or more

  example
    a = max(4, 10 // 3)
