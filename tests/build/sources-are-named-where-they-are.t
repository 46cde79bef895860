# RUN: %python %root/tests/build/paths.py %root
# RUN: %python %root/tests/mutation/plant --stale
# Comments and heads of tests name only sources and folders that exist; the reasons of tests/mutation are about lines that do.
# NEEDS: tool:git sanitizer:none
