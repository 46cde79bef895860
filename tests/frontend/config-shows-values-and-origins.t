# RUN: %fsdpc dump --stage=config %s --preset p -s F=7 -s train.batch=20 -s train.steps=none -s F=D//3 | sed -n 1,16p
# Every value is shown with its origin: file, preset, -s from left to right, default.
==== m.fsd
config { L = 2 "blocks"; D = 4 * L; F = D; G = 2 }
preset "p" { L = 5; G = L }
train { batch = L; steps = 10; clip = F + G }
==== out
config
  L                = 5                        # preset "p"; blocks
  D                = 20                       # m.fsd:1
  F                = 6                        # -s
  G                = 5                        # preset "p"
data
  order            = shuffle                  # default
train
  cache            = false                    # default
  batch            = 20                       # -s
  accumulate       = 1                        # default
  steps            = none                     # -s
  epochs           = none                     # default
  optimizer        = adamw(lr = 0.001, betas = (0.9, 0.999), eps = 1e-08, weight_decay = 0.01) # default
  schedule         = constant(warmup = 0)     # default
  clip             = 11                       # m.fsd:3
