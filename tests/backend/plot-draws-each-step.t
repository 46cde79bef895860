# RUN: printf '{"event":"st' >>b.jsonl; %fsdpc plot a.jsonl b.jsonl --lr -o out.svg && %python read.py out.svg
# A curve a log: a point a step, at the height of its loss by the numbers of the axis, interrupted where
# the loss is not finite; a circle an evaluation; another panel for the learning rate.
==== a.jsonl
{"event":"start","plan":"0"}
{"event":"step","step":0,"loss":4.0,"lr":0.001}
{"event":"step","step":1,"loss":3.0,"lr":0.002}
{"event":"eval","step":2,"loss":2.5}
{"event":"step","step":2,"loss":null,"lr":0.002}
{"event":"step","step":3,"loss":1.25,"lr":0.001}
{"event":"step","step":5,"loss":1.0,"lr":0}
{"event":"end","steps":6}
==== b.jsonl
{"event":"step","step":4,"loss":2,"lr":0.001}
==== read.py
import sys, xml.etree.ElementTree as ET
svg = ET.parse(sys.argv[1]).getroot()
def all_of(tag, name): return [e for e in svg.iter("{http://www.w3.org/2000/svg}" + tag) if e.get("class") == name]
def scale(name, attribute, shift, labels):  # from pixels to numbers, by two labels of an axis
    (p, v), (q, w) = [(float(e.get(attribute)) - shift, float(e.text)) for e in (labels[0], labels[-1])]
    return lambda x: round(v + (x - p) * (w - v) / (q - p), 3)
heights = all_of("text", "y")
split = next(i for i in range(1, len(heights)) if float(heights[i].text) < float(heights[i - 1].text))
to_step = scale("x", "x", 0, [e for e in all_of("text", "x") if e.get("y") == all_of("text", "x")[0].get("y")])
to_loss, to_rate = scale("y", "y", 4, heights[:split]), scale("y", "y", 4, heights[split:])
for i, line in enumerate(all_of("polyline", "line")):
    points = [tuple(map(float, p.split(","))) for p in line.get("points").split()]
    print([(to_step(x), (to_loss if i < 2 else to_rate)(y)) for x, y in points])
for e in all_of("circle", "dot") + all_of("circle", "eval"):
    print(e.get("class"), to_step(float(e.get("cx"))), to_loss(float(e.get("cy"))))
==== out
[(0.0, 4.0), (1.0, 3.0)]
[(3.0, 1.25), (5.0, 1.0)]
[(0.0, 0.001), (1.0, 0.002), (2.0, 0.002), (3.0, 0.001), (5.0, 0.0)]
dot 4.0 2.0
dot 4.0 0.287
eval 2.0 2.5
