# RUN: for n in 1 2 8 64; do %fsdpc dump --machine %root/machines/h100-80.machine -n 8 -s train.batch=64 -s train.loss_chunks=$n %root/models/gpt2.fsd | sed -n 's/, [0-9.]* .s exposed.*//; s/^step/chunks '$n': step/p'; done
# Predicted work does not depend on chunks of logits; time grows by small products, and by what is read again for each.
==== out
chunks 1: step 25.4 ms, MFU 26 %
chunks 2: step 25.6 ms, MFU 26 %
chunks 8: step 26.8 ms, MFU 25 %
chunks 64: step 37.8 ms, MFU 17 %
