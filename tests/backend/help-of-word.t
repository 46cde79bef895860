# RUN: %fsdpc help shuffle
# The page of the key that takes a word.
==== out
data.order (key of data)

    order = a name; default shuffle

  order of the training samples

  values
    shuffle                         a new permutation each epoch, from the seed
    sequential                      in the order of the files

  example
    order = sequential
