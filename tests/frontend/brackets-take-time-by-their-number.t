# RUN: python3 -c 'print("model = = " + "(" * 500000 + "]" * 500000)' > many.fsd; %fsdpc compile many.fsd -o p 2>&1 | cut -c1-60
# Brackets behind an error are skipped in a time that grows with their number, not with its square.
==== out
error[E0101]: unexpected `=`, expected an expression
 --> many.fsd:1:9
  |
1 | model = = ((((((((((((((((((((((((((((((((((((((((((((((
  |         ^

==== exit 1
