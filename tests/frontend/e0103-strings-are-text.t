# RUN: printf 'use "\377"\nmodel = A\n' > bytes.fsd; %fsdpc dump --stage=config bytes.fsd 2>&1 | sed -n 1p
# A string with bytes that are not UTF-8 is an error.
==== m.fsd
config { }
==== out
error[E0103]: this string is not UTF-8 text
==== exit 1
