# RUN: for log in json object loss order number empty; do %fsdpc plot good.log $log.log -o out.svg; echo $?; done 2>&1 | grep '^error\|-->\|^[0-9]$'; test ! -e out.svg
# What is not a log is reported by file and line, and nothing is written.
==== good.log
{"event":"step","step":0,"loss":1,"lr":1}
==== json.log
{"event":"end"}
loss 5.5
==== object.log
[1]
==== loss.log
{"event":"step","step":0,"lr":1}
==== order.log
{"event":"step","step":3,"loss":1,"lr":1}
{"event":"step","step":3,"loss":1,"lr":1}
==== number.log
{"event":"eval","step":3,"loss":"low"}
==== empty.log
{"event":"start"}
==== out
error[E0511]: this line is not JSON: '[' or '{' expected near 'loss'
 --> json.log:2:1
3
error[E0511]: this line is not a JSON object
 --> object.log:1:1
3
error[E0511]: event `step` has no `loss`
 --> loss.log:1:1
3
error[E0511]: step 3 comes after step 3
 --> order.log:2:1
3
error[E0511]: `loss` of event `eval` is not a number
 --> number.log:1:1
3
error[E0511]: empty.log: this log has no steps
3
