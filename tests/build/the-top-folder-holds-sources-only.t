# NEEDS: tool:git sanitizer:none
# RUN: cd %root && git ls-files | grep -v / | LC_ALL=C sort
# Files written by tests or trial runs are not committed with the sources.
==== out
.clang-format
.gitignore
LICENSE
README.md
build.ninja
setup.sh
