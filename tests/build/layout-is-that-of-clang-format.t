# NEEDS: tool:clang-format-14 sanitizer:none
# RUN: cd %root && find ir frontend passes backend foresight checkpoint tensors runtime tests -name '*.[ch]' -o -name '*.cu' | xargs clang-format-14 -n 2>&1 | sed -n 's/^\([^ :]*\):[0-9]*:.*/clang-format-14 -i \1/p' | sort -u
# Every C file looks as .clang-format wants it.
# TIME: 120
