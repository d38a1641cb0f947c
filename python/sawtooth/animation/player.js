// Draws the packets of a film at any moment. Where a packet is, `place` says as film.py does.
// `root` has the elements that page.py makes; `keys` is where keys are heard. What it returns ends it.
export function player(film, root, keyboard) {
  const $ = (id) => root.querySelector(`#${id}`);
  const [LINE, WAY, FLOW, KIND, NUMBER, BYTES, AGAIN, MARKED, FATE, ARRIVED, DROPPED, STARTED, SENT, DELIVERED] = Array(14).keys();
  const { lines, packets, flows, kinds, fates, sizes } = film;
  const span = film.end, group = $("moving"), reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const NS = "http://www.w3.org/2000/svg", LOST = fates.indexOf("lost");
  let now = film.still, speed = film.speed, playing = false, last = 0;

  const fall = () => 6e8 * speed;
  // Times count from the begin of the film: what happened before is negative, and null what did not happen.
  // The longest that any packet is to be seen: what came before that needs no look.
  const gone = (p) => p[DROPPED] ?? p[DELIVERED] ?? p[SENT] ?? span;
  const longest = packets.reduce((most, p) => Math.max(most, gone(p) - p[ARRIVED]), 0);
  const slowest = lines.reduce((most, l) => Math.max(most, ...l.delays), 0);

  function place(p, t, delay) {
    if (t < p[ARRIVED]) return null;
    if (p[DROPPED] !== null && t >= p[DROPPED]) { const f = (t - p[DROPPED]) / fall(); return f < 1 ? ["falls", 0, f] : null; }
    if (p[STARTED] === null || t < p[STARTED]) return ["waits", 0, 0];
    const own = p[DELIVERED] !== null && p[SENT] !== null ? p[DELIVERED] - p[SENT] : delay;
    const front = own > 0 ? Math.min((t - p[STARTED]) / own, 1) : 1;
    const back = p[SENT] === null || t < p[SENT] ? 0 : own > 0 ? (t - p[SENT]) / own : 1;
    if (p[FATE] === LOST && t >= p[STARTED] + own / 2) { const f = (t - p[STARTED] - own / 2) / fall(); return f < 1 ? ["falls", 0.5, f] : null; }
    return back < 1 ? ["moves", back, front] : null;
  }
  function point(l, way, share) {
    const s = way ? 1 - share : share, side = way ? 1 : -1, length = Math.hypot(l.x2 - l.x1, l.y2 - l.y1) || 1;
    return [l.x1 + s * (l.x2 - l.x1) - side * sizes.lane * (l.y2 - l.y1) / length, l.y1 + s * (l.y2 - l.y1) + side * sizes.lane * (l.x2 - l.x1) / length];
  }
  const look = (p) => `c${p[FLOW] % sizes.colours} ${kinds[p[KIND]]}${p[AGAIN] ? " retransmission" : ""}${p[MARKED] ? " marked" : ""}${fates[p[FATE]] === "damaged" ? " damaged" : ""}`;
  const made = (name, values) => { const e = document.createElementNS(NS, name); for (const key in values) e.setAttribute(key, values[key]); return e; };
  const first = (t) => { let low = 0, high = packets.length; while (low < high) { const mid = (low + high) >> 1; if (packets[mid][ARRIVED] < t) low = mid + 1; else high = mid; } return low; };

  function seen(t) {
    const found = [];
    for (let at = first(t - longest - slowest - fall()); at < packets.length && packets[at][ARRIVED] <= t; at++) {
      const p = packets[at], where = place(p, t, lines[p[LINE]].delays[p[WAY]]);
      if (where) found.push([p, where]);
    }
    return found;
  }
  function draw() {
    const all = seen(now), parts = document.createDocumentFragment(), waiting = new Map();
    for (const [p, [phase, back, front]] of all) {
      const l = lines[p[LINE]], length = Math.hypot(l.x2 - l.x1, l.y2 - l.y1) || 1;
      if (phase === "waits") { const key = p[LINE] * 2 + p[WAY]; if (!waiting.has(key)) waiting.set(key, []); waiting.get(key).push(p); continue; }
      if (phase === "falls") {
        const [x, y] = point(l, p[WAY], back || Math.min(sizes.queue_from / length, 0.4));
        parts.append(made("rect", { class: `fallen ${look(p)}`, x: x - 4, y: y - 4 + sizes.fall * front, width: 8, height: 8, opacity: 1 - 0.7 * front })); continue;
      }
      const least = sizes.shortest / length, to = Math.max(front, Math.min(back + least, 1)), from = Math.min(back, Math.max(to - least, 0));
      const [x1, y1] = point(l, p[WAY], from), [x2, y2] = point(l, p[WAY], to);
      const thick = sizes.thick[kinds[p[KIND]]];
      if (p[AGAIN]) parts.append(made("line", { class: "again", x1, y1, x2, y2, "stroke-width": thick + sizes.rim }));
      parts.append(made("line", { class: `packet ${look(p)}`, x1, y1, x2, y2, "stroke-width": thick }));
    }
    lines.forEach((l, at) => [0, 1].forEach((way) => {
      const there = waiting.get(at * 2 + way) || [], [x, y, up] = l.queues[way], high = l.slices[way];
      there.sort((a, b) => (a[STARTED] === null) - (b[STARTED] === null) || a[STARTED] - b[STARTED] || a[ARRIVED] - b[ARRIVED]);
      // Neighbours that look alike are one piece where single ones could not be seen.
      for (let i = 0; i < there.length;) {
        let j = i + 1; const mine = look(there[i]);
        while (high < 1.5 && j < there.length && look(there[j]) === mine) j++;
        const y1 = y + up * i * high, y2 = y + up * j * high;
        parts.append(made("rect", { class: `waits ${mine}`, x, y: Math.min(y1, y2), width: sizes.queue_width, height: Math.abs(y2 - y1) })); i = j;
      }
      if (l.told[way]) {
        const drops = before(l.drops[way], now), words = `${there.length} wait${there.length === 1 ? "s" : ""}${drops ? `, ${drops} dropped` : ""}`;
        const text = made("text", { class: "count", x: l.told[way][0], y: l.told[way][1], "text-anchor": l.told[way][2] }); text.textContent = words; parts.append(text);
      }
    }));
    group.replaceChildren(parts);
    const said = told(now);
    $("clock").value = said; $("scrub").value = now / span; $("scrub").setAttribute("aria-valuetext", said);
    const x = 1000 * now / span; $("now").setAttribute("x1", x); $("now").setAttribute("x2", x);
  }
  const before = (times, t) => { let low = 0, high = times.length; while (low < high) { const mid = (low + high) >> 1; if (times[mid] <= t) low = mid + 1; else high = mid; } return low; };
  const told = (t) => { const secs = (film.begin + t) / 1e9, digits = Math.max(0, Math.min(9, 4 - Math.floor(Math.log10(span / 1e9)))); return `${secs.toFixed(digits)} s`; };

  function list() {
    const body = $("list"), all = seen(now);
    body.replaceChildren(...all.slice(0, 60).map(([p, [phase, , front]]) => {
      const row = document.createElement("tr"), l = lines[p[LINE]];
      const where = phase === "waits" ? "waits" : phase === "falls" ? (p[FATE] === LOST ? "lost" : "dropped") : `${Math.round(100 * front)} % of the way`;
      for (const text of [l.name, p[WAY] ? "reverse" : "forward", flows[p[FLOW]], kinds[p[KIND]] + (p[AGAIN] ? ", again" : ""), p[NUMBER], `${p[BYTES]} B`, where]) row.append(Object.assign(document.createElement("td"), { textContent: text }));
      return row;
    }));
    $("listed").textContent = all.length > 60 ? `The first 60 of ${all.length} packets` : all.length === 1 ? "1 packet" : `${all.length} packets`;
  }
  function show(t) { now = Math.max(0, Math.min(span, t)); draw(); if (!playing && $("packets").open) list(); }
  function run(go) {
    if (go && now >= span) now = 0;
    playing = go; last = performance.now(); $("play").textContent = go ? "Pause" : "Play"; $("play").setAttribute("aria-pressed", go);
    if (go) requestAnimationFrame(tick); else show(now);
  }
  function tick(at) {
    if (!playing) return;
    now += Math.min(at - last, 100) * 1e6 * speed; last = at;
    if (now >= span) { now = span; run(false); return; }
    draw(); requestAnimationFrame(tick);
  }
  const moments = [...new Set(packets.flatMap((p) => [p[ARRIVED], p[DROPPED], p[STARTED], p[DELIVERED]]).filter((t) => t !== null && t >= 0 && t <= span))].sort((a, b) => a - b);
  function event(step) { const at = before(moments, step > 0 ? now : now - 1); run(false); show(moments[step > 0 ? Math.min(at, moments.length - 1) : Math.max(at - 1, 0)]); }
  function faster(step) { const select = $("speed"); select.selectedIndex = Math.max(0, Math.min(select.options.length - 1, select.selectedIndex + step)); speed = +select.value; draw(); }
  const lost = packets.filter((p) => p[DROPPED] !== null || p[FATE] === LOST).map((p) => p[DROPPED] ?? p[STARTED] + lines[p[LINE]].delays[p[WAY]] / 2).filter((t) => t >= 0 && t <= span).sort((a, b) => a - b);
  function toLoss() { run(false); const at = before(lost, now + 1); show(lost[at % Math.max(lost.length, 1)] ?? now); }

  $("play").onclick = () => run(!playing); $("start").onclick = () => { run(false); show(0); };
  $("back").onclick = () => event(-1); $("next").onclick = () => event(1); $("loss").onclick = toLoss; $("loss").disabled = !lost.length;
  // Read first: to pause draws, which sets the slider to where it was.
  $("scrub").oninput = (e) => { const at = e.target.value * span; run(false); show(at); };
  $("speed").onchange = (e) => { speed = +e.target.value; draw(); };
  $("packets").ontoggle = list;
  keyboard.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(SELECT|SUMMARY)$/.test(e.target.tagName) || (e.target.tagName === "BUTTON" && /^( |Enter)$/.test(e.key))) return;
    const step = span / (e.shiftKey ? 10 : 200), keys = { " ": () => run(!playing), ArrowRight: () => { run(false); show(now + step); }, ArrowLeft: () => { run(false); show(now - step); }, Home: () => { run(false); show(0); }, End: () => { run(false); show(span); }, ".": () => event(1), ",": () => event(-1), l: toLoss, "+": () => faster(1), "-": () => faster(-1) };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  root.querySelectorAll("[data-live]").forEach((e) => { e.hidden = false; });
  const asked = /(?:^#|&)t=([\d.]+)/.exec(location.hash);
  show(asked ? asked[1] * 1e9 - film.begin : film.still);
  if (/play/.test(location.hash) && !reduced) run(true);
  return () => { playing = false; };
}
