# RUN: for m in %root/models/*.fsd %root/models/hf/*.fsd; do [ ${m##*/} = std.fsd ] || %fsdpc dump --stage=fuse_elementwise $m 2>/dev/null | %build/tests/modules/cuts | sed "s/^/${m##*/} /"; done
# Every op of the models that does arithmetic in forward or backward can be shared out along some axis.
# The exceptions are small: the sorting of choices needs all tokens, and so do the statistics of a
# router, which ranks with other samples add up (column PARTIAL).
# NEEDS: build:tests/modules/cuts sanitizer:none
# TIME: 60
==== out
mixtral.fsd route: 96 without a cut
mixtral.fsd balance: 64 without a cut
deepseek_v2.fsd route: 52 without a cut
gpt_oss.fsd route: 48 without a cut
mixtral.fsd route: 64 without a cut
