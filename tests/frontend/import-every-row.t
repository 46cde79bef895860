# RUN: %python %root/tests/frontend/imports.py %fsdpc %root && diff %root/tests/frontend/imports.txt imports.txt
# NEEDS: sanitizer:none
# Each key of Accelerate and DeepSpeed that the table has does what its row says, for each of its values, and the rows say the same as ever.
# TIME: 60
==== out
193 keys, 0 rows are wrong
