# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "use the workspace beside another stream" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|instruction |stream )[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Two instructions on two streams work in the same scratch memory, and neither waits: check-2.
==== out
error[E0510]: %t/plan.bin: check-2f: wte gpt2.fsd:N: embedding_grad #N: shares its workspace with instruction N of stream N, which may not have finished

==== exit 3
