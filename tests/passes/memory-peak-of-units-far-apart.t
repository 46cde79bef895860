# RUN: %python %root/tests/passes/peak.py %fsdpc
# Also with 1000 layers whose units hold layers from both ends, or every 250th, the peak is within 0.5 % of the bytes that are live.
# TIME: 60
# NEEDS: sanitizer:none
==== out
mirrored: 2 cases within 1.005
strided: 2 cases within 1.005
