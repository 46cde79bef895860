# NEEDS: tool:clang-format-14 sanitizer:none
# RUN: cd %root && for f in $(find ir frontend passes backend checkpoint runtime tests -name '*.[ch]' -o -name '*.cu'); do clang-format-14 "$f" | cmp -s - "$f" || echo "clang-format -i $f"; done
# Every C file looks as .clang-format wants it.
# TIME: 120
