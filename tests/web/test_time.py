"""What panels over time draw of a million points: in each column of pixels the least and the most that hold there, found without looking at every point."""

import json
import subprocess
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"
SCRIPT = """
import { Steps } from "./steps.mjs";
// A generator of its own, so that the numbers are the same everywhere.
let state = 1;
const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
const found = { wrong: [], spike: null };
for (const count of [0, 1, 31, 32, 33, 1000, 1024, 40000]) {
  const t = new Float64Array(count), value = new Float64Array(count);
  for (let at = 0, time = 0; at < count; at++) { t[at] = time += random() < 0.2 ? 0 : random(); value[at] = random() < 0.1 ? NaN : random(); }
  const steps = new Steps(t, value, 1e6);
  for (let turn = 0; turn < 300; turn++) {
    const from = Math.floor(random() * (count + 1)), to = from + Math.floor(random() * (count + 1 - from));
    const part = [...value.slice(from, to)].filter((each) => !Number.isNaN(each));
    let [low, high] = [Infinity, -Infinity];
    for (const each of part) { low = Math.min(low, each); high = Math.max(high, each); }
    const told = steps.extent(from, to);
    if (told[0] !== low || told[1] !== high) found.wrong.push([count, from, to, told, [low, high]]);
    const time = random() * (t[count - 1] ?? 1), until = [...t].filter((each) => each <= time).length;
    if (turn < 20 && steps.until(time) !== until) found.wrong.push([count, time, until]);
  }
}
const many = 1_000_000, value = new Float64Array(many).fill(1);
value[654_321] = 99;
let looked = 0;
const counted = new Proxy(value, { get: (of, key) => { looked++; const got = of[key]; return typeof got === "function" ? got.bind(of) : got; } });
const steps = new Steps(Float64Array.from({ length: many }, (_, at) => at), counted);
looked = 0;
found.spike = steps.extent(3, many - 3);
found.looked = looked;
console.log(JSON.stringify(found));
"""


def test_a_pyramid_tells_least_and_most_as_all_points_do_and_looks_at_few(tmp_path: Path) -> None:
    build = [str(WEB / "node_modules" / ".bin" / "esbuild"), str(WEB / "src" / "time" / "steps.ts"), "--format=esm"]
    (tmp_path / "steps.mjs").write_text(subprocess.run(build, check=True, capture_output=True, text=True).stdout)
    (tmp_path / "script.mjs").write_text(SCRIPT)
    found = json.loads(subprocess.run(["node", tmp_path / "script.mjs"], check=True, capture_output=True, text=True).stdout)
    assert found["wrong"] == []
    assert found["spike"] == [1, 99]
    assert found["looked"] < 500
