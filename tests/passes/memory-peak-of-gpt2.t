# RUN: %python %root/tests/passes/peak.py %fsdpc %root/models/gpt2.fsd
# The peak of GPT-2 is within 5 % of the bytes live at the worst time.
==== out
full: 12 cases within 1.05
grads: 12 cases within 1.05
none: 12 cases within 1.05
