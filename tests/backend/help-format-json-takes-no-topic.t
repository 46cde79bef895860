# RUN: %fsdpc help --format=json | grep -A2 operator; %fsdpc help --format=json gelu
# The words of the language are listed by kind and section; a topic has no JSON form.
==== out
  "operator": [
    "as",
    "and",
==== err
error[E0508]: --format=json lists all words, not `gelu`
  = help: leave out the topic, or --format=json

==== exit 1
