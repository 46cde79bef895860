# RUN: printf "\xef\xbb\xbfconfig { a = 1 }\nmodule M { forward(x) = x }\nmodel = M\nconfig { b =\xc2\xa02 }\n" > m.fsd; %fsdpc dump --stage=config m.fsd 2>&1 | grep -E -A1 "^error"
# A byte order mark at the start is allowed, and invisible characters are reported by name.
==== out
error[E0109]: a no-break space (U+00A0) is not allowed here
 --> m.fsd:4:13
==== exit 1
