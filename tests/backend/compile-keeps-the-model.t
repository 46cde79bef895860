# RUN: %fsdpc compile tiny.fsd -o ./tiny.fsd
# A plan never replaces the file that it is made from.
==== tiny.fsd
model = M
==== err
error[E0503]: the plan would replace the model file tiny.fsd

==== exit 1
