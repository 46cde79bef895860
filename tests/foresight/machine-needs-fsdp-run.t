# RUN: cp %fsdpc alone; PATH= ./alone machine -n 2 -o here.machine; code=$?; ls *.machine 2>/dev/null; exit $code
# Without fsdp-run nothing is measured.
# NEEDS: sanitizer:none
==== err
error: cannot run fsdp-run: it is neither next to fsdpc nor in PATH
help: fsdpc machine --plan writes plans that another fsdp-run can run
==== exit 2
