# RUN: mv log.jsonl 'a & <b>.jsonl' && %fsdpc plot 'a & <b>.jsonl' --lr -o out.svg && %python read.py
# A log may have any name. The learning rate is drawn from 0 on, so that its course can be judged.
==== log.jsonl
{"event":"step","step":0,"loss":4.0,"lr":0.0019}
{"event":"step","step":1,"loss":3.0,"lr":0.002}
==== read.py
import xml.etree.ElementTree as ET
texts = list(ET.parse("out.svg").getroot().iter("{http://www.w3.org/2000/svg}text"))
print(next(e.text for e in texts if e.get("class") == "name"))
heights = [float(e.text) for e in texts if e.get("class") == "y"]
print(heights[next(i for i in range(1, len(heights)) if heights[i] < heights[i - 1])])
==== out
a & <b>.jsonl: loss 3
0.0
