# RUN: %python %root/tests/foresight/bad_machines.py %fsdpc %root/docs/machine.schema.json %root/machines %root/models/linear.fsd
# What docs/machine.schema.json allows is read, what breaks it is refused with its path, and the table has its constants.
# NEEDS: sanitizer:none
==== out
the whole schema is taken
more than 900 files are refused
a100-40.machine: right
a100-80.machine: right
h100-80.machine: right
rtx-4090.machine: right
rtx-pro-6000.machine: right
machine.def has the same constants
