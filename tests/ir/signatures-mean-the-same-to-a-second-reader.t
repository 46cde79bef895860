# RUN: %python %root/tests/ir/signatures.py %build/tests/modules/signatures
# What operands and results an op takes is read from its signature in one place; a reader of its own
# in the tests accepts, refuses and infers the same, over random types of every op.
# NEEDS: build:tests/modules/signatures
==== out
both readers agree
