# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# If entries or arguments run into one another, the message names the missing separator.
==== m.fsd
config { a = 1, b = 2; c 3; d: 4 }
config { e = 1 f = 2 }
preset big { a = 3 }
names hf { "a": "b" }
train { optimizer = adamw(lr = 1 eps = 2); batch = 3) ; steps = "4" 5 }
==== out
error[E0101]: unexpected `,`, expected string or end of line or `(` or `[`
 --> m.fsd:1:15
  = help: use a new line or `;` here, not a comma
error[E0101]: unexpected number `3`, expected `{` or `=`
 --> m.fsd:1:26
  = help: write `=` between a key and its value
error[E0101]: unexpected `:`, expected `{` or `=`
 --> m.fsd:1:30
  = help: write `=` between a key and its value
error[E0101]: unexpected name `f`, expected string or end of line or `(` or `[`
 --> m.fsd:2:16
  = help: end the statement before it with a new line or `;`
error[E0101]: unexpected name `big`, expected string
 --> m.fsd:3:8
  = help: write its name in double quotes
error[E0101]: unexpected `:`, expected `=`
 --> m.fsd:4:15
  = help: write `=` between a key and its value
error[E0101]: unexpected name `eps`, expected `(` or `[` or `)` or `,`
 --> m.fsd:5:34
  = help: arguments are separated by commas
 --> m.fsd:5:26
error[E0104]: unmatched `)`
 --> m.fsd:5:53
error[E0101]: unexpected number `5`, expected string or end of line or `(` or `[`
 --> m.fsd:5:69
  = help: end the statement before it with a new line or `;`
==== exit 1
