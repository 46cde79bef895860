# RUN: %fsdpc dump --format=xml x.fsd
# A format is text or json.
==== err
error[E0503]: `--format` takes `text` or `json`, not `xml`

==== exit 1
