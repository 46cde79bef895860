# RUN: mkdir -p %t/tests %t/build/gpu-pack && cp -r %root/tests/gpu %t/tests && for x in run bench; do PATH=/usr/bin:/bin python3 %t/tests/gpu/$x; echo "exit $?"; done; echo '{}' >%t/build/gpu-pack/cases.json; for x in run bench; do PATH=/nowhere $(command -v python3) %t/tests/gpu/$x; echo "exit $?"; done
# Without what the build machine makes, and without a GPU, the checks say so and check nothing.
# NEEDS: sanitizer:none
==== out
exit 2
exit 2
exit 2
exit 2
==== err
tests/gpu/run: build/gpu-pack is not here; make it on the build machine: tests/gpu/pack
tests/gpu/bench: build/gpu-pack is not here; make it on the build machine: tests/gpu/pack
tests/gpu/run: no GPU answers on this machine (nvidia-smi); nothing was checked
tests/gpu/bench: no GPU answers on this machine (nvidia-smi); nothing was checked
