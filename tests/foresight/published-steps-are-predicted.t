# RUN: %python %root/tests/foresight/published --fsdpc %fsdpc --most 4
# NEEDS: sanitizer:none
# TIME: 120
# Published steps of llm-foundry, of 7 models on 8 to 512 GPUs, are predicted with a mean error of at most 4 %.
==== out
78 of 80 rows are predicted, with a mean error of 4 % at most
