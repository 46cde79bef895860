# RUN: %fsdpc machine --plan -n 2 -o m; %fsdpc dump --raw m/f32.bin | %python %root/tests/foresight/traced.py 2 >f32.json; f="%fsdpc machine -o new.machine --threads 1 --fit"
# RUN: f="%fsdpc machine -o new.machine --threads 1 --fit"; head -c 5000 f32.json >cut.json; $f cut.json; echo $?; echo '{"traceEvents": []}' >none.json; $f none.json; echo $?; echo '{"traceEvents": [{"ph": "X"}]}' >x.json; $f x.json; echo $?
# RUN: f="%fsdpc machine -o new.machine --threads 1 --fit"; %python -c 'import json; j = json.load(open("f32.json")); [e["args"].update(bytes=7) for e in j["traceEvents"]]; json.dump(j, open("other.json", "w"))'; $f other.json; echo $?; %python -c 'import json; j = json.load(open("f32.json")); j["traceEvents"] = [e for e in j["traceEvents"] if e["pid"]]; json.dump(j, open("f32.json.1", "w"))'; $f f32.json.1; echo $?; $f nowhere.json; echo $?; %fsdpc machine --fit f32.json -o new.machine; echo $?; ls *.machine 2>/dev/null | grep . || echo nothing is written
# A trace that is cut, of another plan, or without some ranks is refused, and so is one that says nothing of the cores.
# TIME: 90
# NEEDS: sanitizer:none
==== out
3
3
3
3
3
2
1
nothing is written
==== err
error[E0515]: cut.json: not JSON in line 1: premature end of input near '"instructio'
  = help: the run may have been interrupted while it wrote the trace

error[E0515]: none.json: the trace has no instructions
  = help: fsdp-run --profile FILE writes traces

error[E0515]: x.json: traceEvents[0] is not an instruction of a plan

error[E0515]: other.json: this is not a trace of a measuring plan for 2 ranks
  = help: make the plans with this fsdpc: fsdpc machine --plan -n 2 -o FOLDER, then fsdp-run --profile TRACE FOLDER/f32.bin

error[E0515]: no trace of f32.bin has rank 0 of 2
  = help: give all files that the run wrote: TRACE TRACE.1 TRACE.2 ..

error: cannot read nowhere.json: No such file or directory
error[E0504]: --fit needs --threads N, the cores of a rank in these runs
  = help: or --machine FILE with device.cores

