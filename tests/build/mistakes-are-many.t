# RUN: %python %root/tests/build/mistakes.py %root 240
# The goldens show at least 240 different mistakes of users, and every code of a model file.
# NEEDS: sanitizer:none
==== out
at least 240 mistakes
