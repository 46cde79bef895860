# RUN: %python %root/tests/build/circles.py %build
# No two files of a room use each other, but for those that go over the language's own recursion.
# NEEDS: tool:nm sanitizer:none
==== out
frontend: call evaluate index method
