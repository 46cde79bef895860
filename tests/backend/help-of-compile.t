# RUN: %fsdpc compile --help
# A command lists its options.
==== out
usage: fsdpc compile model.fsd -o plan.bin [options]

Writes the plan that fsdp-run executes. The same file and options give the same bytes.
With a model file, --help lists its config names. With --machine, the summary says how long
a step takes on that machine.

options:
  -o, --output FILE          write the result to FILE; `-` is standard output
  -n, --ranks N              total number of ranks; axis dp is N / the other axes
      --mesh A=N,..          the mesh, outermost axis first: dp=4, or rep=2,dp=4
      --preset NAME          a preset of the model file
      --accelerate FILE      settings from a YAML file of `accelerate config`
      --deepspeed FILE       settings from a JSON file of DeepSpeed
      --hf DIR               a Hugging Face folder or config.json in place of the model file
  -s, --set PATH=EXPR        a config name (L=4), key (train.batch=8) or path (shard."h.*"=unit); repeatable
      --print-after PASS     print the graph after PASS, on stderr
      --print-after-all      after every pass
      --print-after-change   after passes that changed it
      --pass-timing          print the time of every pass, on stderr
      --error-format FORMAT  text (default) or json: one object a line
  -q, --quiet                print errors only
  -W, --warn NAME            no-NAME silences a warning, error makes all of them errors, error=NAME one; repeatable
      --machine FILE         constants of a machine, from which the time of a step follows; see docs/time.md
  -h, --help                 this text
