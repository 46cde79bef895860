# RUN: mkdir -p %t/tests && cp %root/tests/run inner/*.t %t/tests/ && %t/tests/run | sed 's/ ([0-9.]* s, .* s)//' || true
# A test that hangs ends with all its processes, also those in a process group of their own, as the ranks of a run are.
# NEEDS: sanitizer:none
==== inner/a.t
# RUN: set -m; sleep 1000 & wait
# TIME: 0.2
# Hangs.
==== out
failed: tests/a.t
    exit code -9, expected 0
    --- err expected
    +++ err printed
    @@ -0,0 +1,2 @@
    +
    +(stopped: more than 0.8 s of a machine at rest)
0 passed, 1 failed
