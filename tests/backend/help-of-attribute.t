# RUN: %fsdpc help @no_decay
# The page of an attribute.
==== out
@no_decay (attribute)

  weight decay does not apply to the parameter

  On a field of a module it holds for every parameter below.

  example
    b : param[D] = zeros @no_decay
