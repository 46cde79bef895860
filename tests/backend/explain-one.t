# RUN: %fsdpc explain E0504
# The long form of a diagnostic.
==== out
E0504: missing or extra argument

The command needs a file or an option that is missing, or it got more files than it reads.
    fsdpc compile gpt2.fsd                 wrong: -o must say where to write the plan
    fsdpc compile gpt2.fsd -o plan.bin     right
