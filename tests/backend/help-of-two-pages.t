# RUN: %fsdpc help max
# A name of two things has two pages.
==== out
max (function of tensors)

    max(x: tensor, y: tensor?, axis: int or list of ints?)

  the larger of two values, element by element; without y, the largest along axes, which are kept
  with size 1

  arguments
    x: tensor                       any shape
    y: tensor = none                a shape that broadcasts with x
    axis: int or list of ints = none
                                    one axis or a list of them, counted from 0, or from -1 backwards
                                    from the last; none: all

  example
    y = max(x, 0) - max(x, axis = -1)

max (function of constants)

    max(x: real..)

  the largest of its arguments

  arguments
    x: real..                       one or more constants

  example
    a = max(4, 10 // 3)
