# RUN: %fsdpc compile x.fsd --quiet=yes
# A switch takes no value.
==== err
error[E0503]: `--quiet` wants no value, not `yes`

==== exit 1
