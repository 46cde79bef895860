# RUN: %python -c 'n = 20000; print("config {"); [print(f"a{i} = a{i+1} + 1") for i in range(n)]; print(f"a{n} = 0"); print("}")' > chain.fsd; %fsdpc dump --stage=config chain.fsd 2>&1 | sed -n 1p
# A long chain of config names is an error, not a crash.
# NEEDS: sanitizer:none
==== m.fsd
config { }
==== out
error[E0106]: this is nested too deeply
==== exit 1
