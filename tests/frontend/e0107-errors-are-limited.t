# RUN: %python -c 'print("config {"); [print("a a") for i in range(99)]; print("}")' > many.fsd; %fsdpc dump --stage=config many.fsd 2>&1 | tail -6
# After twenty syntax errors the parser gives up.
==== m.fsd
config { a = 1 }
==== out
error[E0107]: too many syntax errors; giving up here
  --> many.fsd:21:3
   |
21 | a a
   |   ^

==== exit 1
