# RUN: %fsdpc dump --stage=config %s
# `else` says what Transformers takes if a config.json lacks a key, so it stands in config hf only.
==== m.fsd
config { D = 4 else 5 }
preset "p" { D = 6 else 7 }
module M { w : param[D] }
model = M
config hf { hidden_size = D else 768; use_cache = skip; deep { a = none else 3 } }
train { batch = 8 else 9; optimizer { kind = 1 else 2 } }
==== err
error[E0306]: `else` is allowed in config hf only
 --> m.fsd:1:21
  |
1 | config { D = 4 else 5 }
  |                     ^
  |
  = help: it says what Transformers takes if a config.json lacks the key

error[E0306]: `else` is allowed in config hf only
 --> m.fsd:2:25
  |
2 | preset "p" { D = 6 else 7 }
  |                         ^
  |
  = help: it says what Transformers takes if a config.json lacks the key

error[E0306]: `else` is allowed in config hf only
 --> m.fsd:6:24
  |
6 | train { batch = 8 else 9; optimizer { kind = 1 else 2 } }
  |                        ^
  |
  = help: it says what Transformers takes if a config.json lacks the key

error[E0310]: train.optimizer must be a call, not a tuple
 --> m.fsd:6:27
  |
6 | train { batch = 8 else 9; optimizer { kind = 1 else 2 } }
  |                           ^^^^^^^^^
  |
  = help: `fsdpc help train.optimizer` has an example

error[E0306]: `else` is allowed in config hf only
 --> m.fsd:6:53
  |
6 | train { batch = 8 else 9; optimizer { kind = 1 else 2 } }
  |                                                     ^
  |
  = help: it says what Transformers takes if a config.json lacks the key

==== exit 1
