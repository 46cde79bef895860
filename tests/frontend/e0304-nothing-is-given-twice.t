# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# A name given twice in one file is an error.
==== m.fsd
config { L = 2; L = 3 }
module A { forward(x) = x }
module A { forward(x) = x }
train { batch = L; batch = 4 }
==== out
error[E0304]: config name `L` is given twice
 --> m.fsd:1:17
note: it is also given here
 --> m.fsd:1:10
error[E0304]: module `A` is given twice
 --> m.fsd:3:8
note: it is also given here
 --> m.fsd:2:8
error[E0304]: key `batch` is given twice
 --> m.fsd:4:20
note: it is also given here
 --> m.fsd:4:9
==== exit 1
