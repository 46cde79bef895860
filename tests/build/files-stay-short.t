# RUN: cd %root && find ir frontend passes backend runtime tests setup.sh build.ninja -type f ! -name '*.t' ! -path '*/corpus/*' \( -name '*.[chly]' -o -name '*.cu' -o -name '*.py' -o -name '*.sh' -o -name run \) -exec wc -l {} + | awk '$1 > 900 && $2 != "total"'
# No source has more than 900 lines.
