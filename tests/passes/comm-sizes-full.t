# RUN: %fsdpc dump --format=json -n 2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/sizes.py
# Strategy full on 2 ranks: a rank brings half of a unit into each gather and has half of each reduction.
==== out
AG 18 12 24 40 | 40 24 12
RS 40 24 12 18
