# RUN: %fsdpc compile x.fsd --quiet=yes
# A switch takes no value.
==== err
error[E0503]: `--quiet` takes no value, but got `yes`

==== exit 1
