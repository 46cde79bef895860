# RUN: %fsdpc --version
# The version is one line.
==== out
fsdpc 0.1.0
