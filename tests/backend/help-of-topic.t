# RUN: %fsdpc help param
# The page of a topic.
==== out
param (the language)

    name : param[size, ..] = initial value @attribute

  a parameter: 1 to 6 axes, its initial value (chapter inits), attributes

  example
    b : param[D, 2 * D] = normal(0.02) @no_decay
