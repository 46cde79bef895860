# RUN: %fsdpc help clip
# The page of a key is found by its name without the section.
==== out
train.clip (key of train)

    clip = a number or none; default none

  largest norm of the whole gradient; a larger one is scaled down to it

  example
    clip = 1.0
