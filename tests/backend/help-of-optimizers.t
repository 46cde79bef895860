# RUN: %fsdpc help optimizers
# A chapter lists its pages.
==== out
optimizers: update rules

  sgd                   stochastic gradient descent
  adam                  Adam with decay added to the gradient (L2)
  adamw                 Adam with decoupled weight decay
  lion                  steps by the sign of a mean of gradients, with decoupled weight decay
  muon                  orthogonal steps for hidden matrices, AdamW for all other parameters:
                        embeddings, heads, norms and biases; group(muon = ..) overrides this; with
                        sharded weights, ranks sum the momentum of a unit's matrices in f32 and
                        share the products
  adafactor             second moments of rows and columns; steps in proportion to the size of
                        weights
