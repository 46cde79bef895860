# RUN: %fsdpc --help
# All commands on one screen.
==== out
fsdpc 0.1.0: compiles models to plans for sharded training

    fsdpc compile model.fsd -o plan.bin [options]    model file to plan
    fsdpc dump [--stage=STAGE] [options] FILE        any stage of a model, or a plan, as text
    fsdpc fit FILE --memory 80GiB [options]          what fits a device: samples, length, ranks, settings
    fsdpc machine -n RANKS -o FILE.machine [options] measure this machine, for --machine
    fsdpc import DIR -o model.fsd                    a Hugging Face folder to a model file
    fsdpc opt --pass=NAME[,NAME]... [FILE]           run passes on a graph in text form
    fsdpc check [-v] plan.bin | CK                   prove a plan correct, or a checkpoint intact
    fsdpc reshard CK (-n M | plan.bin) -o CK2        a checkpoint rewritten for other ranks
    fsdpc convert CK [PLAN] | WEIGHTS PLAN -o OUTPUT a checkpoint to weights, or weights to a checkpoint
    fsdpc explain CODE                               the long form of a diagnostic
    fsdpc help [TOPIC]                               the reference of the model file and the commands
    fsdpc completion bash|zsh                        a script that completes command lines
    fsdpc plot LOG.. -o FILE.svg                     the loss over the steps as a picture

fsdpc COMMAND --help explains a command; fsdpc help lists the topics of the reference.
