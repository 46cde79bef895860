# RUN: %python %root/tests/optimizers/muon_torch.py %root/tests/optimizers/muon_torch.json
# The rule of replay.py makes the steps of torch.optim.Muon in doubles, and within 4% of lr its steps in bf16.
==== out
[3, 5] exact: the same
[3, 5] bf16: the same
[5, 3] exact: the same
[5, 3] bf16: the same
[4, 2] exact: the same
[4, 2] bf16: the same
