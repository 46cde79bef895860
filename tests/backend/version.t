# RUN: %fsdpc --version | sed -E '/^libraries/s/[0-9]+(\.[0-9]+)+/N/g; s/^commit ([0-9a-f]{12}(-dirty)?|unknown)$/commit C/'
# RUN: %fsdpc compile -q %root/models/linear.fsd -o p.bin; for word in commit jansson glibc "$(%fsdpc --version | sed -n 's/^commit //p')"; do grep -ac "$word" p.bin; done || true
# --version says the version, the commit and the libraries. Commit and libraries do not enter a plan.
==== out
fsdpc 0.1.0
commit C
libraries: jansson N, xxHash N, glibc N, libyaml N
0
0
0
0
