# RUN: for i in $(seq 1 250); do echo "use \"f$((i+1)).fsd\"" >f$i.fsd; done; echo >f251.fsd
# RUN: %fsdpc dump --stage=model f1.fsd
# A chain of files that use one another has a limit; going beyond it is the user's mistake.
==== err
error[E0111]: a model can have at most 200 files
 --> f200.fsd:1:5
  |
1 | use "f201.fsd"
  |     ^^^^^^^^^^

==== exit 1
