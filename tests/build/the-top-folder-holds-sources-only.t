# NEEDS: tool:git sanitizer:none
# RUN: cd %root && git ls-files | grep -v / | LC_ALL=C sort
# What a test or a trial run writes is not committed beside the sources.
==== out
.clang-format
.gitignore
LICENSE
README.md
build.ninja
setup.sh
