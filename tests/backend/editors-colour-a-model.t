# RUN: %python %root/tests/backend/textmate.py %root/editors/vscode/syntaxes/fsd.tmLanguage.json m.fsd
# Names, keywords, numbers, strings and comments of a model have their scopes; in a section its words
# have theirs, and in parentheses names of arguments.
==== m.fsd
config { D = 64Ki "width" } # text
module Net(n = 2) {
  fc : Block(D)[n] @no_decay
  half(x) = f(x, approx = tanh) * train
}
train { on_nan = skip; schedule = cosine(warmup = 2) }
==== out
keyword.declaration config
keyword.operator =
constant.numeric 64Ki
string.quoted.double "width"
comment.line.number-sign # text
keyword.declaration module
entity.name.type.module Net
variable.parameter n
keyword.operator =
constant.numeric 2
entity.name.type.module Block
storage.modifier.attribute @no_decay
entity.name.function half
keyword.operator =
variable.parameter approx
keyword.operator =
constant.language.word tanh
keyword.operator *
keyword.section train
support.type.property-name on_nan
keyword.operator =
constant.language.word skip
support.type.property-name schedule
keyword.operator =
support.function.value cosine
variable.parameter warmup
keyword.operator =
constant.numeric 2
