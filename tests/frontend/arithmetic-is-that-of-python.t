# RUN: %fsdpc dump --stage=config %s | sed -n 1,12p
# Integers and reals keep apart; // and % round down; suffixes count.
==== m.fsd
config { a = 7 // -2; b = 7 % -2; c = 7 / 2; d = 2 ** 10; e = 2 ** -1; f = 1.5k + 64Ki; g = 1e3; h = max(3, sqrt(16)); i = round(2.5); j = -2 ** 2; k = not 1 == 2 and true }
train { clip = a + b + c + d + e + f + g + h + i + j }
shard { reshard = k }
==== out
config
  a                = -4                       # m.fsd:1
  b                = -1                       # m.fsd:1
  c                = 3.5                      # m.fsd:1
  d                = 1024                     # m.fsd:1
  e                = 0.5                      # m.fsd:1
  f                = 67036                    # m.fsd:1
  g                = 1000                     # m.fsd:1
  h                = 4                        # m.fsd:1
  i                = 2                        # m.fsd:1
  j                = -4                       # m.fsd:1
  k                = true                     # m.fsd:1
