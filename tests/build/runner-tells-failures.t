# RUN: mkdir -p %t/tests %t/build/tests && cp %root/tests/run %t/tests/ && cp inner/*.t %t/tests/ && cp fsdpc %t/build/ && chmod +x %t/build/fsdpc && sed -i 's/^@@@@/====/' %t/tests/*.t
# RUN: %t/tests/run -j 1 tests/ | sed 's/ ([0-9.]* s, .* s)//' || true
# RUN: BLESS=1 %t/tests/run -j 1 bless | sed 's/ ([0-9.]* s, .* s)//' && sed 's/^====/@@@@/' %t/tests/bless.t
# RUN: %t/tests/run nothing-of-that-name || echo $?
# The runner sees wrong output, wrong exit codes, graphs that do not round-trip; BLESS mends.
==== fsdpc
#!/bin/sh
sed s/lossy/lost/
==== inner/bless.t
# RUN: echo new && cat %s && exit 3
# Output, input and exit code.
@@@@ file.txt
kept
@@@@ out
old
@@@@ exit 1
==== inner/graph-good.t
# RUN: echo graph model
# Round-trips.
@@@@ out
graph model
==== inner/graph-lossy.t
# RUN: echo graph lossy
# Does not round-trip, and what it prints is as expected.
@@@@ out
graph lossy
==== inner/malformed.t
# RUN: true
==== inner/skipped.t
# NEEDS: file:no/such/file sanitizer:none
# RUN: false
# Not run.
==== inner/slow.t
# RUN: sleep 20
# TIME: 0.2
# Takes too long.
==== out
failed: tests/bless.t
    exit code 3, expected 1
    --- out expected
    +++ out printed
    @@ -1 +1,2 @@
    -old
    +new
    +kept
failed: tests/graph-lossy.t
    --- graph expected
    +++ graph printed
    @@ -1 +1 @@
    -graph lossy
    +graph lost
failed: tests/malformed.t
    no sentence that says what the test claims
failed: tests/slow.t
    exit code -9, expected 0
    --- err expected
    +++ err printed
    @@ -0,0 +1,2 @@
    +
    +(stopped: more than 0.8 s of a machine at rest)
1 passed, 4 failed, 1 skipped
passed: tests/bless.t
    rewritten
1 passed, 0 failed
# RUN: echo new && cat %s && exit 3
# Output, input and exit code.
@@@@ file.txt
kept
@@@@ out
new
kept
@@@@ exit 3
tests/run: no test has nothing-of-that-name in its path
1
