# RUN: %python -c 'print("config { a = " + "(" * 100000)' > deep.fsd; %fsdpc dump --stage=config deep.fsd 2>&1 | sed -n 1p
# A deeply nested text is an error, not a crash.
==== m.fsd
config { }
==== out
error[E0106]: this is nested too deeply
==== exit 1
