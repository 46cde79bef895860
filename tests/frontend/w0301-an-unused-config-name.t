# RUN: %fsdpc dump --stage=config %s | sed -n 1,2p
# A config name that nothing reads is a warning.
==== m.fsd
config { L = 2; M = 3 }
train { batch = L }
==== out
config
  L                = 2                        # m.fsd:1
==== err
warning[W0301]: config name `M` is never used
 --> m.fsd:1:17
  |
1 | config { L = 2; M = 3 }
  |                 ^

