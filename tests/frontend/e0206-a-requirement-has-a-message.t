# RUN: %fsdpc dump --stage=model %s
# A requirement that does not hold prints its text.
==== m.fsd
config { D = 10; H = 4; require D % H == 0 "heads share the width" }
==== err
error[E0206]: `D % H == 0` does not hold: heads share the width
 --> m.fsd:1:33
  |
1 | config { D = 10; H = 4; require D % H == 0 "heads share the width" }
  |                                 ^^^^^^^^^^

==== exit 1
