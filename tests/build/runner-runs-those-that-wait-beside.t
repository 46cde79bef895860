# RUN: mkdir -p %t/tests && cp %root/tests/run inner/*.t %t/tests/ && %t/tests/run -j 2
# Tests that wait have slots of their own: here one of them ends what two others, which occupy all other slots, wait for.
# NEEDS: sanitizer:none
==== inner/a.t
# RUN: until test -e $FSDP_ROOT/go; do sleep 0.05; done
# Stands still.
==== inner/b.t
# RUN: until test -e $FSDP_ROOT/go; do sleep 0.05; done
# Does, too.
==== inner/c.t
# WAITS: for nothing, in truth
# RUN: touch $FSDP_ROOT/go
# TIME: 20
# Would be the last one.
==== out
3 passed, 0 failed
