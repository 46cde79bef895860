# RUN: %fsdpc explain E0504
# The long form of a diagnostic.
==== out
E0504: missing argument, or one too many

The command needs a file or an option that was not given, or got more files than it reads.
    fsdpc compile gpt2.fsd                 where does the plan go?
    fsdpc compile gpt2.fsd -o plan.bin     right
