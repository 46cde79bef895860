# RUN: awk -v page=fsd.5 -v version=x -f %root/packaging/man.awk r.md | sed -n '/^.TP/,/^.SH "SEE/p'
# RUN: %fsdpc help reference | awk -v page=fsd.5 -v version=x -f %root/packaging/man.awk | grep 'sees only positions'
# A bar that is written as \| belongs to its cell on a manual page.
==== r.md
## functions
| `a` | real \| auto | `b` | \|t - s\| \< w\_x |
==== out
.TP
\fBa\fP
real | auto; b; |t \- s| < w_x
.SH "SEE ALSO"
bool; false; position t sees only positions up to t
int; none; position t sees only positions s with |t \- s| < window; with causal the last window up to t
