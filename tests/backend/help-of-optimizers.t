# RUN: %fsdpc help optimizers
# A chapter lists its pages.
==== out
optimizers: update rules

  sgd                   stochastic gradient descent
  adam                  Adam, decay added to the gradient (L2)
  adamw                 Adam, decay beside the gradient
  lion                  the sign of a mean of gradients, decay beside it
  muon                  orthogonal steps for hidden matrices, AdamW for all other parameters:
                        embeddings, heads, norms and biases; group(muon = ..) decides otherwise;
                        with sharded weights, ranks sum the momentum of a unit's matrices in f32 and
                        share the products
  adafactor             second moments of rows and columns; steps in proportion to the size of
                        weights
