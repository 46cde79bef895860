# RUN: %fsdpc help Linear
# The page of a module.
==== out
Linear (module of the prelude)

    Linear(inp, out, bias = false, init = normal(0.02))

  x times the transposed weight [out, inp], plus a bias where bias = true

  example
    fc : Linear(D, D)
