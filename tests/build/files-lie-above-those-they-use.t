# RUN: %python %root/tests/build/circles.py %build
# No two files of a room use each other, except those that follow the language's own recursion.
# NEEDS: tool:nm sanitizer:none
==== out
frontend: call evaluate index method
