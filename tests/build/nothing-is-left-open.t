# RUN: cd %root && ! grep -rnwiE 'todo|fixme|xxx|not implemented|unimplemented|placeholder|for now|stub' ir frontend passes backend foresight checkpoint tensors runtime models setup.sh build.ninja
# No source promises what it does not do.
# NEEDS: sanitizer:none
