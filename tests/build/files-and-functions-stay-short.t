# RUN: %python %root/tests/build/shape.py %root
# No source has more than 600 lines, no function more than 80, no line more than 100 columns, no folder more than 25 sources, README fewer than 120.
# NEEDS: sanitizer:none
