# RUN: cp %root/tests/checkpoint/net.fsd .; seq 300 > t.txt
# RUN: for form in sharded full; do %fsdpc compile -q net.fsd -o p -n 2 -s checkpoint.form=$form && %fsdp-run -q --threads 1 --checkpoint $form --steps 2 p; for f in $form/step-00000002/*; do mv $f kept; mkfifo $f; timeout 60 %fsdpc check $form; echo "exit $?"; rm $f; mkdir $f; timeout 60 %fsdp-run -q --threads 1 --resume $form p 2>> other; echo "exit $?"; rmdir $f; mv kept $f; done; %fsdpc check $form; done
# A FIFO in place of a checkpoint's file is rejected at once: nothing waits for its writer.
# NEEDS: build:device_cpu.so
==== out
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
exit 3
==== err
error[E0512]: sharded/step-00000002/manifest.json: not a regular file
  = help: no earlier checkpoint is intact

error[E0512]: sharded/step-00000002/rank-00000-of-00002.safetensors: the file has 0 bytes, not the 30112 that were written
  = help: no earlier checkpoint is intact

error[E0512]: sharded/step-00000002/rank-00000-of-00002.tail.safetensors: the file has 0 bytes, not the 4216 that were written
  = help: no earlier checkpoint is intact

error[E0512]: sharded/step-00000002/rank-00001-of-00002.head.safetensors: the file has 0 bytes, not the 4120 that were written
  = help: no earlier checkpoint is intact

error[E0512]: sharded/step-00000002/rank-00001-of-00002.safetensors: the file has 0 bytes, not the 30208 that were written
  = help: no earlier checkpoint is intact

error[E0512]: full/step-00000002/manifest.json: not a regular file
  = help: no earlier checkpoint is intact

error[E0512]: full/step-00000002/model.safetensors: the file has 0 bytes, not the 21520 that were written
  = help: no earlier checkpoint is intact

error[E0512]: full/step-00000002/optimizer.safetensors: the file has 0 bytes, not the 38944 that were written
  = help: no earlier checkpoint is intact

