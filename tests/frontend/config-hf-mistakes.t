# RUN: %fsdpc dump --stage=config %s
# Mistakes of `config hf` are named with their places.
==== net.fsd
config { D = 4 }
config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
config hf { n = 1 }
config gpt { n = 1 }
module Net {
  fc : Linear(D, D)
  forward(x) = fc(x)
}
model = Net
==== err
error[E0304]: key `n` is given twice
 --> net.fsd:2:20
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  |                    ^
note: it is also given here
 --> net.fsd:2:13
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  |             ^

error[E0306]: only `key = value` and `key { .. }` are allowed in config hf
 --> net.fsd:2:35
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  |                                   ^^^^^

error[E0207]: there is no name `widht` here
 --> net.fsd:2:46
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  |                                              ^^^^^
  |
  = help: known names: D

error[E0207]: there is no function or module `adamw` here
 --> net.fsd:2:57
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  |                                                         ^^^^^

error[E0208]: `normal` needs `std`
 --> net.fsd:2:78
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  |                                                                              ^^^^^^
  |
  = help: normal(mean: real = 0, std: real)

error[E0304]: section `config hf` is given twice
 --> net.fsd:3:1
  |
3 | config hf { n = 1 }
  | ^^^^^^
note: it is also given here
 --> net.fsd:2:1
  |
2 | config hf { n = D; n = 2; require D > 1; w = widht; f = adamw(1); deep { b = normal } }
  | ^^^^^^

error[E0302]: there is no section `config gpt`
 --> net.fsd:4:1
  |
4 | config gpt { n = 1 }
  | ^^^^^^^^^^
  |
  = help: `config hf` holds the keys of config.json, `config` without a name holds constants

==== exit 1
