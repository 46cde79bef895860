# RUN: %fsdpc help optimizers
# A chapter lists its pages.
==== out
optimizers: update rules

  sgd                   stochastic gradient descent
  adam                  Adam, decay added to the gradient (L2)
  adamw                 Adam, decay beside the gradient
  lion                  the sign of a mean of gradients, decay beside it
  muon                  orthogonal steps; reads whole matrices, which flat shards cut (not in this
                        version)
  adafactor             second moments of rows and columns; steps in proportion to the size of
                        weights
