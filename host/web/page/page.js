'use strict';
const $ = id => document.getElementById(id);
const fail = error => { $('failure').hidden = !error; $('failure').textContent = error ? error.message ?? error : ''; };
const attempt = action => (...given) => { try { fail(); return action(...given); } catch (error) { fail(error); } };
const scientific = x => x === 0 ? '0' : x.toExponential(1);
const grouped = x => Math.round(x).toLocaleString('en');
const calm = matchMedia('(prefers-reduced-motion: reduce)');
function bytesOf64(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}
// Said to those who listen, once it has been still for a moment.
const speak = (id, text) => { clearTimeout(speak[id]); speak[id] = setTimeout(() => { $(id).textContent = text; }, 600); };

let call, module, classifiers, examples;
const TURN = 64, SIDE = 16, ANGLES = 32, RINGS = 8, STEP = 360 / ANGLES;
const state = { kind: 'turn', samples: null, lines: [], shift: [0, 0], angle: 0, base: null };
const models = {};

// ---- Colours ---------------------------------------------------------------------------------------------------------------
const named = name => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
};
let theme;
function readTheme() { theme = Object.fromEntries(['paper', 'ink', 'mark', 'line', 'positive', 'negative'].map(name => [name, named(`--${name}`)])); }
const css = rgb => `rgb(${rgb.map(Math.round).join(' ')})`;
const mix = (a, b, share) => a.map((v, k) => v + (b[k] - v) * Math.max(0, Math.min(1, share)));
const signed = v => mix(theme.paper, v > 0 ? theme.positive : theme.negative, Math.abs(v));
// A full turn of hues of one saturation.
function hue(turn) {
  const part = (turn % 1 + 1) % 1, channel = n => { const k = (n + part * 12) % 12; return 255 * (.52 - .36 * Math.max(-1, Math.min(k - 3, 9 - k, 1))); };
  return [channel(0), channel(8), channel(4)];
}

// ---- Signals and how they move -------------------------------------------------------------------------------------------
function shifted(x, [right, down]) {
  if (x.length === TURN) return Float32Array.from(x, (_, n) => x[(n - right + TURN) % TURN]);
  const at = (row, column) => x[((row - down + SIDE) % SIDE) * SIDE + (column - right + SIDE) % SIDE];
  return Float32Array.from(x, (_, k) => at(Math.floor(k / SIDE), k % SIDE));
}
// On the polar grid: right is along the angles, down along the rings.
const rolled = (x, [right, down]) => Float32Array.from(x, (_, k) => {
  const angle = (Math.floor(k / RINGS) - right + ANGLES) % ANGLES, ring = (k % RINGS - down + RINGS) % RINGS;
  return x[angle * RINGS + ring];
});
const moved = (x, by) => state.kind === 'turned' ? rolled(x, by) : shifted(x, by);
function drawn(angle) {
  const numbers = [angle * Math.PI / 180];
  for (const line of state.lines) numbers.push(line.length, ...line.flat());
  return floatsOf(call('draw', Float32Array.from(numbers), state.kind === 'turned' ? 1 : 0));
}
function signal() {
  if (state.kind === 'turn') return shifted(state.samples, state.shift);
  if (state.kind === 'shifted') return shifted(drawn(0), state.shift);
  // Whole steps of the grid move samples as they are; only what is left is drawn anew.
  const steps = Math.floor(state.angle / STEP + 1e-9);
  return rolled(drawn(state.angle - steps * STEP), [steps, 0]);
}

// ---- Pictures ----------------------------------------------------------------------------------------------------------------
function drawSignal(canvas, x, kind = state.kind) {
  const pen = canvas.getContext('2d'), { width, height } = canvas;
  pen.clearRect(0, 0, width, height);
  if (!x) return;
  let least = 0, most = 0;
  for (const v of x) { least = Math.min(least, v); most = Math.max(most, v); }
  if (kind === 'turn') {
    const size = Math.max(most, -least) || 1;
    pen.strokeStyle = css(theme.line); pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(0, height / 2); pen.lineTo(width, height / 2); pen.stroke();
    pen.strokeStyle = css(theme.mark); pen.lineWidth = 5; pen.lineJoin = 'round'; pen.beginPath();
    x.forEach((v, n) => pen.lineTo((n + .5) * width / x.length, height / 2 - .45 * height * v / size));
    pen.stroke();
    return;
  }
  const span = most - least || 1, ink = v => css(mix(theme.paper, theme.mark, (v - least) / span));
  pen.strokeStyle = css(theme.line); pen.lineWidth = 2;
  if (kind === 'shifted') {
    const side = height / SIDE, left = (width - height) / 2;
    for (let k = 0; k < x.length; k++) {
      pen.fillStyle = ink(x[k]);
      pen.fillRect(left + (k % SIDE) * side, Math.floor(k / SIDE) * side, side + .5, side + .5);
    }
    pen.strokeRect(left, 1, height - 1, height - 2);
    return;
  }
  const radius = height / 2 - 2, half = Math.PI / ANGLES;
  for (let k = 0; k < x.length; k++) {
    const ring = k % RINGS, middle = 2 * half * Math.floor(k / RINGS);
    pen.fillStyle = ink(x[k]);
    pen.beginPath();
    pen.arc(width / 2, height / 2, (ring + 1) * radius / RINGS, middle - half, middle + half + .01);
    pen.arc(width / 2, height / 2, ring * radius / RINGS, middle + half + .01, middle - half, true);
    pen.fill();
  }
  pen.beginPath(); pen.arc(width / 2, height / 2, radius, 0, 2 * Math.PI); pen.stroke();
  // Where up was.
  const up = (state.angle - 90) * Math.PI / 180;
  if (canvas.id === 'signal') {
    pen.fillStyle = css(theme.positive);
    pen.beginPath(); pen.arc(width / 2 + (radius - 14) * Math.cos(up), height / 2 + (radius - 14) * Math.sin(up), 12, 0, 2 * Math.PI); pen.fill();
  }
}
const SVG = 'http://www.w3.org/2000/svg';
function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
const withTitle = (made, text) => { made.append(element('title', {}, text)); return made; };
const size2 = (z, k) => Math.hypot(z[2 * k], z[2 * k + 1]);
const polar = (re, im) => `${Math.hypot(re, im).toPrecision(3)} at ${Math.round(Math.atan2(im, re) * 180 / Math.PI)}°`;
// Which coefficients are shown: low frequencies, and what they are called.
function coefficientsShown() {
  if (state.kind === 'turn') return Array.from({ length: 24 }, (_, k) => [k + 1, `frequency ${k + 1}`]);
  const across = state.kind === 'shifted' ? SIDE : RINGS;
  return Array.from({ length: 40 }, (_, k) => {
    const a = Math.floor(k / 8), b = k % 8;
    return [a * across + b, state.kind === 'shifted' ? `frequency ${b} right, ${a} down` : `frequency ${a} around, ${b} along the radius`];
  });
}
function drawCoefficients(z) {
  const list = coefficientsShown(), across = 8, size = 480 / across, parts = [];
  const most = Math.max(...list.filter(([k]) => k > 0).map(([k]) => size2(z, k))) || 1;
  $('coefficients').setAttribute('viewBox', `0 0 480 ${Math.ceil(list.length / across) * size}`);
  list.forEach(([k, name], place) => {
    const x = (place % across + .5) * size, y = (Math.floor(place / across) + .5) * size, length = size2(z, k);
    const reach = .42 * size * Math.sqrt(Math.min(1, length / most)), angle = Math.atan2(-z[2 * k + 1], z[2 * k]);
    const group = element('g', { transform: `translate(${x} ${y})` });
    group.append(element('circle', { r: .46 * size, fill: 'var(--paper)', stroke: 'var(--line)' }));
    if (reach > 1.5) {
      const tip = Math.min(8, reach * .6), arrow = element('g', { transform: `rotate(${angle * 180 / Math.PI})` });
      arrow.append(element('line', { x1: 0, y1: 0, x2: reach - tip * .6, y2: 0, stroke: 'var(--mark)', 'stroke-width': 2.5 }));
      arrow.append(element('path', { d: `M${reach} 0l${-tip} ${-tip * .55}v${tip * 1.1}z`, fill: 'var(--mark)' }));
      group.append(arrow);
    } else group.append(element('circle', { r: 1.5, fill: 'var(--mark)' }));
    parts.push(withTitle(group, `z, ${name}: ${polar(z[2 * k], z[2 * k + 1])}`));
  });
  $('coefficients').replaceChildren(...parts);
}
function drawPower(power) {
  const shown = power.slice(0, 64), most = Math.max(...shown.slice(1)) || 1, width = 480 / shown.length;
  $('power').replaceChildren(...Array.from(shown, (p, k) => {
    const height = Math.max(1, 190 * Math.min(1, Math.sqrt(p / most)));
    return withTitle(element('rect', { x: k * width + .5, y: 200 - height, width: width - 1, height, fill: 'var(--mark)' }), `|z|² of row ${k}: ${p.toPrecision(3)}`);
  }));
}
// Cells of a colour each, one pixel of the canvas a cell.
function tiles(canvas, columns, rows, each) {
  canvas.width = columns; canvas.height = rows;
  const image = new ImageData(columns, rows);
  for (let row = 0, at = 0; row < rows; row++) for (let column = 0; column < columns; column++, at += 4) {
    const [r, g, b] = each(row, column) ?? theme.paper;
    image.data[at] = r; image.data[at + 1] = g; image.data[at + 2] = b; image.data[at + 3] = 255;
  }
  canvas.getContext('2d').putImageData(image, 0, 0);
}
const grid = (columns, rows, text) => Array.from({ length: columns * rows }, (_, k) => {
  const row = Math.floor(k / columns), column = k % columns;
  return { x: column / columns, y: row / rows, width: 1 / columns, height: 1 / rows, get text() { return text(row, column); } };
});
// The triangle of β_ij for the first rows, mirrored; strength is the fourth root of the size.
const invariantsShown = rows => Math.min(rows, rows > 64 ? 48 : 33);
const place = (i, j, rows) => { const [a, b] = i < j ? [i, j] : [j, i]; return 2 * (a * rows - a * (a - 1) / 2 + b - a); };
function drawInvariants(invariants, rows) {
  let most = 0;
  // Products with the mean are large where a signal has one: they may saturate.
  for (let k = 2 * rows; k < invariants.length; k += 2) most = Math.max(most, invariants[k] ** 2 + invariants[k + 1] ** 2);
  const shown = invariantsShown(rows), largest = Math.sqrt(most) || 1;
  tiles($('invariants'), shown, shown, (i, j) => {
    const k = place(i, j, rows), re = invariants[k], im = invariants[k + 1], strength = Math.min(1, Math.hypot(re, im) / largest) ** .25;
    return strength < .02 ? null : mix(theme.paper, hue(Math.atan2(im, re) / (2 * Math.PI)), strength);
  });
}
function drawScores(names, scores, found) {
  const most = Math.max(...scores), parts = scores.map(s => Math.exp(s - most)), sum = parts.reduce((a, b) => a + b, 0);
  const height = Math.min(32, 200 / names.length);
  $('scores').setAttribute('viewBox', `0 0 480 ${height * names.length + 6}`);
  $('scores').replaceChildren(...names.flatMap((name, k) => {
    const y = k * height + 3, share = parts[k] / sum;
    return [
      element('text', { x: 122, y: y + height / 2 + 5, 'text-anchor': 'end', 'font-weight': k === found ? 700 : 400 }, name),
      element('rect', { x: 132, y: y + 2, width: Math.max(1, 335 * share), height: height - 4, rx: 2, fill: k === found ? 'var(--mark)' : 'var(--edge)' }),
    ];
  }));
  $('scores').setAttribute('aria-label', `Scores of the classes; the highest is ${names[found]}`);
}

// ---- See it --------------------------------------------------------------------------------------------------------------------
const difference = (a, b) => {
  let sum = 0, length = 0;
  a.forEach((v, k) => { sum += (v - b[k]) ** 2; length += b[k] ** 2; });
  return Math.sqrt(sum / (length || 1));
};
function computed(x, { handle, rows, pairs }) {
  const answer = call('compute', x, handle), numbers = floatsOf(answer, 4), [head] = new Uint32Array(answer.buffer, 0, 1);
  const ends = [2 * rows, 2 * rows + 2 * pairs, 3 * rows + 2 * pairs];
  return {
    checksum: head.toString(16).padStart(8, '0'),
    z: numbers.subarray(0, ends[0]), invariants: numbers.subarray(ends[0], ends[1]),
    power: numbers.subarray(ends[1], ends[2]),
  };
}
let latest;
const show = attempt(() => {
  const x = signal(), model = models[state.kind];
  drawSignal($('signal'), x);
  const found = latest = computed(x, model);
  state.base ??= found;
  drawCoefficients(found.z);
  drawInvariants(found.invariants, model.rows);
  drawPower(found.power);
  const classifier = classifiers[state.kind], seen = jsonOf(call('classify', x, classifier.handle)), name = classifier.classes[seen.class];
  drawScores(classifier.classes, seen.scores, seen.class);
  $('class').textContent = name;
  $('checksum').textContent = found.checksum;
  const change = [difference(found.invariants, state.base.invariants), difference(found.z, state.base.z)].map(scientific);
  $('drift').textContent = change[0];
  $('drift-z').textContent = change[1];
  speak('said', `Invariants changed by ${change[0]}, coefficients by ${change[1]}. The device says ${name}.`);
});
function describe() {
  const { kind } = state, model = models[kind], classifier = classifiers[kind];
  $('model').textContent = `${model.group}: ${model.inputs} inputs, ${grouped(model.pairs)} invariants, ${grouped(model.bytes)} bytes of flash`;
  $('cost').textContent = `all invariants: about ${grouped(model.instructions)} instructions for one signal, ${grouped(model.ram)} bytes of RAM beside the stack`;
  $('classifier').textContent = `The class: ${grouped(classifier.instructions)} instructions on a Cortex-M4F (counted in QEMU), ${grouped(classifier.bytes)} bytes of flash. Learned from variants of the examples.`;
  $('shift-x').max = { turn: TURN - 1, shifted: SIDE - 1, turned: 359 }[kind];
  $('shift-x-name').textContent = { turn: 'Start', shifted: 'Right', turned: 'Turn' }[kind];
  $('shift-y-label').hidden = kind !== 'shifted';
  $('hint').textContent = {
    turn: 'Drag it, or use the arrow keys: it starts elsewhere.', shifted: 'Drag it, or use the arrow keys.',
    turned: `Drag it around, or use the arrow keys: a step of ${STEP}° of the 32 angles a device samples. In between, invariants move by what these do not see.`,
  }[kind];
}
const wrap = (v, most) => ((v % most) + most) % most;
function shift(right, down) {
  if (state.kind === 'turned') { state.angle = wrap(right, 360); $('shift-x').value = state.angle; return show(); }
  const most = state.kind === 'turn' ? TURN : SIDE;
  state.shift = [wrap(right, most), wrap(down, most)];
  $('shift-x').value = state.shift[0];
  $('shift-y').value = state.shift[1];
  show();
}
function still() { state.base = null; state.angle = 0; shift(0, 0); restart(); }
function choose(number) {
  if (state.kind === 'turn') state.samples = Float32Array.from(examples.turns[number][1]);
  else state.lines = examples.digits[number].map(line => line.map(point => point.slice()));
  still();
}
function kind(chosen, first = chosen === 'turn' ? 0 : 7) {
  state.kind = chosen;
  const names = chosen === 'turn' ? examples.turns.map(([name]) => name) : examples.digits.map((_, digit) => String(digit));
  $('example').replaceChildren(...names.map((name, number) => new Option(name, number)));
  $('example').value = first;
  describe();
  choose(first);
}
const drawing = () => document.querySelector('[name=pointer]:checked').value === 'draw';
function pointer(value) {
  document.querySelector(`[name=pointer][value=${value}]`).checked = true;
  document.body.classList.toggle('draws', value === 'draw');
}
$('clear').onclick = () => {
  // Not quite empty: a signal of zeros has no direction.
  if (state.kind === 'turn') { state.samples = new Float32Array(TURN); state.samples[0] = 1; } else state.lines = [[[.5, .5]]];
  state.untouched = true;
  pointer('draw');
  still();
};
for (const radio of document.querySelectorAll('[name=pointer]')) radio.onchange = () => pointer(radio.value);
$('kind').onchange = () => kind($('kind').value);
$('example').onchange = () => choose(+$('example').value);
$('shift-x').oninput = () => shift(+$('shift-x').value, state.shift[1]);
$('shift-y').oninput = () => shift(state.shift[0], +$('shift-y').value);
$('shift-x').onchange = $('shift-y').onchange = () => restart();
$('signal').onkeydown = event => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  if (state.kind === 'turned') shift((Math.round(state.angle / STEP) + step[0] + step[1]) * STEP);
  else shift(state.shift[0] + step[0], state.shift[1] + (state.kind === 'shifted' ? step[1] : 0));
  restart();
};
let held = null;
const at = event => {
  const canvas = $('signal'), box = canvas.getBoundingClientRect();
  return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
};
// From the canvas to the unit square as it was before it was moved.
function unmoved([x, y]) {
  const { width, height } = $('signal'), u = (x - (width - height) / 2) / height, v = y / height;
  if (state.kind === 'shifted') return [wrap(u - state.shift[0] / SIDE, 1), wrap(v - state.shift[1] / SIDE, 1)];
  const back = -state.angle * Math.PI / 180, [a, b] = [u - .5, v - .5];
  return [.5 + a * Math.cos(back) - b * Math.sin(back), .5 + a * Math.sin(back) + b * Math.cos(back)];
}
function draw([x, y], begins) {
  const { width, height } = $('signal');
  if (state.kind === 'turn') {
    const n = Math.max(0, Math.min(TURN - 1, Math.floor(x * TURN / width))), from = begins ? n : held.last;
    const value = (height / 2 - y) / (.45 * height), before = begins ? value : held.value;
    // All samples between two events of a fast pointer.
    for (let k = Math.min(from, n); k <= Math.max(from, n); k++) {
      const share = n === from ? 1 : (k - from) / (n - from);
      state.samples[(k - state.shift[0] + TURN) % TURN] = before + (value - before) * share;
    }
    Object.assign(held, { last: n, value });
  } else {
    const point = unmoved([x, y]), line = state.lines.at(-1), last = line?.at(-1);
    if (begins && state.untouched) state.lines = [];
    if (begins || !last || Math.hypot(point[0] - last[0], point[1] - last[1]) > .5) state.lines.push([point]);
    else if (Math.hypot(point[0] - last[0], point[1] - last[1]) > .01) line.push(point);
  }
  state.untouched = false;
  state.base = null;
  show();
}
const around = ([x, y]) => Math.atan2(y - $('signal').height / 2, x - $('signal').width / 2) * 180 / Math.PI;
$('signal').onpointerdown = event => {
  try { $('signal').setPointerCapture(event.pointerId); } catch { /* A pointer that was made by a script. */ }
  held = { at: at(event), shift: state.shift.slice(), angle: state.angle };
  if (drawing()) draw(held.at, true);
};
$('signal').onpointermove = event => {
  if (!held) return;
  const now = at(event), { width, height } = $('signal');
  if (drawing()) return draw(now, false);
  if (state.kind === 'turned') return shift(held.angle + around(now) - around(held.at));
  const unit = state.kind === 'shifted' ? height / SIDE : width / TURN;
  const down = state.kind === 'shifted' ? Math.round((now[1] - held.at[1]) / unit) : 0;
  shift(held.shift[0] + Math.round((now[0] - held.at[0]) / unit), held.shift[1] + down);
};
$('signal').onpointerup = $('signal').onpointercancel = () => { if (held) { held = null; restart(); } };

// ---- Fool it -------------------------------------------------------------------------------------------------------------------
const fool = { target: null, signal: null, playing: false, over: false };
function restart() {
  if (!call) return;
  fool.target = signal();
  fool.over = false;
  stop();
  shown(attempt(() => call('attack', fool.target, models[state.kind].handle, +$('measure').value))());
}
function stop() { fool.playing = false; $('play').textContent = 'Play'; }
// The best shift and scale of a signal onto another, by trying all shifts.
function aligned(x, target) {
  const [across, along] = { turn: [TURN, 1], shifted: [SIDE, SIDE], turned: [ANGLES, RINGS] }[state.kind];
  const square = target.reduce((sum, v) => sum + v * v, 0), own = x.reduce((sum, v) => sum + v * v, 0) || 1;
  let best = { error: Infinity, signal: x };
  for (let right = 0; right < across; right++) for (let down = 0; down < along; down++) {
    const y = moved(x, [right, down]);
    let dot = 0;
    for (let n = 0; n < y.length; n++) dot += y[n] * target[n];
    const scale = Math.max(0, dot / own), error = square - scale * dot;
    if (error < best.error) best = { error, signal: y.map(v => v * scale) };
  }
  return { signal: best.signal, distance: Math.sqrt(Math.max(0, best.error) / (square || 1)) };
}
function drawFool() {
  drawSignal($('target'), fool.target);
  drawSignal($('metamer'), fool.signal);
  drawSignal($('aligned'), fool.aligned);
}
function shown(answer) {
  if (!answer) return;
  const [distance, steps, goesOn] = floatsOf(answer).subarray(0, 3);
  fool.signal = floatsOf(answer).slice(3);
  fool.over = goesOn === 0;
  const near = aligned(fool.signal, fool.target);
  fool.aligned = near.signal;
  drawFool();
  $('fool-steps').textContent = `${steps}${fool.over ? ', and it has ended' : ''}`;
  $('fool-distance').textContent = Number.isFinite(distance) ? scientific(distance) : '';
  $('fool-orbit').textContent = near.distance.toFixed(4);
  if (steps > 0) speak('fool-said', `${steps} steps, distance from the orbit ${near.distance.toFixed(3)}${fool.over ? ', ended' : ''}.`);
}
const descend = attempt(steps => shown(call('descend', undefined, steps)));
let drawnAt = 0;
function play() {
  if (!fool.playing) return;
  // Those who want little motion see a picture twice a second.
  if (!calm.matches || performance.now() - drawnAt > 500) {
    drawnAt = performance.now();
    const each = state.kind === 'turn' ? 10 : 1;
    let answer;
    do answer = attempt(() => call('descend', undefined, each))(); while (answer && floatsOf(answer)[2] && performance.now() - drawnAt < 40);
    if (!answer) return stop();
    shown(answer);
    if (fool.over) return stop();
  }
  requestAnimationFrame(play);
}
$('play').onclick = () => {
  if (fool.playing) return stop();
  if (fool.over) restart();
  fool.playing = true; $('play').textContent = 'Pause'; play();
};
$('step').onclick = () => { stop(); descend(1); };
$('again').onclick = () => restart();
$('measure').onchange = () => restart();

// ---- Learn it ------------------------------------------------------------------------------------------------------------------
let worker = null, learned = null, report = null;
const learning = { samples: null, w: null, rows: 0, inputs: 0, table: null, continuous: false };
function begin(task) {
  worker?.terminate();
  const source = URL.createObjectURL(new Blob([`${$('bridge').textContent}\nwork();`], { type: 'text/javascript' }));
  worker = new Worker(source);
  URL.revokeObjectURL(source);
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = event => { fail(event.message || 'learning stopped'); $('pause').disabled = true; };
  worker.postMessage({ module, task, run: true });
  Object.assign(learning, { samples: null, w: null, rows: 0, inputs: 0, table: null, continuous: false });
  $('learned-facts').hidden = true;
  $('group').textContent = ''; $('progress').textContent = 'Learning …';
  $('table-caption').textContent = 'The Cayley table of the rows: colour is the product, pale where it is not sure.';
  $('waves-caption').textContent = 'Rows of W: real parts. They become waves.';
  $('pause').disabled = false; $('pause').textContent = 'Stop';
  drawLearning();
}
function weights(bytes) {
  [learning.rows, learning.inputs] = new Uint32Array(bytes.buffer, 0, 2);
  learning.w = floatsOf(bytes, 8);
}
function hear(data) {
  if (data.failure) { fail(data.failure); $('progress').textContent = ''; $('pause').disabled = true; }
  if (data.weights) weights(data.weights);
  if (data.begun) learning.samples = data.samples;
  if (data.state) {
    const { steps, phase, last, attempts, table, orbits, name, blocks } = data.state;
    learning.table = table;
    learning.continuous = orbits !== undefined;
    if (learning.continuous) {
      $('progress').textContent = `${orbits} orbits: ${name}${blocks ? `, blocks of ${blocks.join(', ')}` : ''}`;
      $('waves-caption').textContent = 'Rows of the basis; those of a block are moved among themselves.';
      $('table-caption').textContent = 'No table: the group has infinitely many elements.';
    } else {
      const change = last ? `, change along orbits ${scientific(last.invariance)}` : '';
      $('progress').textContent = `${phase ?? 'done'}: ${grouped(steps)} ${steps === 1 ? 'step' : 'steps'}${attempts > 1 ? `, attempt ${attempts}` : ''}${change}`;
    }
  }
  if (data.ended) {
    const { learned: found } = data.ended;
    learning.table = found.table ?? learning.table;
    if (found.coupled) {
      $('table-caption').textContent = 'The Cayley table of the permutations that were found: exact. Not symmetric: order matters.';
      $('waves-caption').textContent = 'Rows of U, the basis of the irreps; their couplings are the invariants.';
    } else if (found.group && found.table) {
      $('table-caption').textContent = `The Cayley table, its rows in the order of the group: colour is the product.`;
      $('waves-caption').textContent = 'Rows of W: real parts. They are waves.';
    }
    $('group').textContent = found.group ? found.group.name : `none recognised: ${found.reason}`;
    learned = jsonOf(call('load', data.model));
    report = data.report;
    $('within').textContent = scientific(found.evaluation.within);
    $('between').textContent = found.evaluation.between.toPrecision(3);
    $('learned-model').textContent = `${learned.inputs} inputs, ${grouped(learned.pairs)} invariants, ${grouped(learned.bytes)} bytes of flash; about ${grouped(learned.instructions)} instructions on a Cortex-M4F`;
    $('learned-facts').hidden = false;
    const option = $('which').querySelector('[value=learn]');
    option.disabled = false; option.textContent = `Learn it: ${found.group?.name ?? 'as it was learned'}`;
    $('which').value = 'learn';
    $('report').disabled = false;
    $('pause').disabled = true;
  }
  drawLearning();
}
function drawLearning() {
  const { samples, w, rows, inputs, table } = learning;
  if (samples) {
    const most = samples.flat().reduce((m, x) => Math.max(m, ...x.map(Math.abs)), 0) || 1;
    const members = Math.max(...samples.map(row => row.length)), length = samples[0][0].length;
    // A sample is a strip as high as wide rows allow, with a gap below and to the right.
    const tall = Math.max(2, Math.round(members * (length + 1) * 5 / 8 / samples.length) - 1);
    tiles($('orbits'), members * (length + 1) - 1, samples.length * (tall + 1) - 1, (row, column) => {
      const x = samples[Math.floor(row / (tall + 1))][Math.floor(column / (length + 1))], n = column % (length + 1);
      return row % (tall + 1) === tall || !x || n === length ? null : signed(x[n] / most);
    });
  } else tiles($('orbits'), 1, 1, () => null);
  let most = 0;
  for (const v of w ?? []) most = Math.max(most, Math.abs(v));
  if (rows) tiles($('waves'), inputs, rows, (row, column) => signed(w[row * 2 * inputs + column] / (most || 1)));
  else tiles($('waves'), 1, 1, () => null);
  const n = table?.products.length ?? 0;
  $('table-host').hidden = learning.continuous;
  if (n) tiles($('table'), n, n, (i, j) => mix(theme.paper, hue(table.products[i][j] / n), Math.max(.06, table.confidences[i * n + j] ** 4)));
  else tiles($('table'), 1, 1, () => null);
}
// No row of W is an irrep of a group whose order matters: those have the closed form alone.
let wanted = $('recipe').value;
$('recipe').onchange = () => { wanted = $('recipe').value; };
$('hidden').onchange = () => {
  $('recipe').disabled = !/^Z/.test($('hidden').value);
  $('recipe').value = $('recipe').disabled ? '0' : wanted;
};
$('start').onclick = attempt(() => begin({ group: $('hidden').value, exemplars: 60, gradients: $('recipe').value === '1', seed: 1 }));
$('pause').onclick = () => {
  const stopped = $('pause').textContent === 'Stop';
  worker?.postMessage({ run: !stopped });
  $('pause').textContent = stopped ? 'Go on' : 'Stop';
};
// Samples of one's own: numbers as text, a sample a line, or arrays of NumPy. One table has the orbit of each in its first column;
// of two files, that with one value a sample has the orbits.
const refusal = (name, what, remedy) => new Error(`${name}: ${what}: ${remedy}`);
function tableOf(name, bytes) {
  let text;
  try { text = new TextDecoder('utf-8', { fatal: true }).decode(bytes); } catch { throw refusal(name, 'it is not text', 'save it as UTF-8'); }
  const lines = text.split(/\r?\n/).map((line, n) => ({ line: line.trim(), n: n + 1 })).filter(({ line }) => line && !line.startsWith('#'));
  if (!lines.length) throw refusal(name, 'there are no samples in it', 'write one a line, its orbit in the first column');
  const typical = lines.at(-1).line, between = [';', '\t', ','].find(letter => typical.includes(letter)) ?? /\s+/;
  const number = cell => cell === '' ? NaN : Number(between === ',' ? cell : cell.replace(',', '.'));
  const rows = lines.map(({ line, n }) => ({ cells: line.split(between).map(cell => cell.trim().replace(/^"(.*)"$/, '$1')), n }));
  // A header has words where the lines below have numbers.
  const words = ({ cells }) => cells.filter(cell => Number.isNaN(number(cell))).length;
  if (rows.length > 1 && words(rows[0]) > words(rows[1])) rows.shift();
  const columns = rows[0].cells.length;
  for (const { cells, n } of rows) {
    if (cells.length !== columns) throw refusal(name, `line ${n} has ${cells.length} values where line ${rows[0].n} has ${columns}`, 'give every sample the same length');
    const wrong = cells.findIndex((cell, k) => k > 0 && !Number.isFinite(number(cell)));
    if (wrong >= 0) throw refusal(name, `line ${n}: "${cells[wrong].slice(0, 20)}" is not a number`, 'only the first column may have words, the orbits');
  }
  return { name, columns, rows: rows.map(({ cells }) => cells), number };
}
function arrayOf(name, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || textOf(bytes.subarray(1, 6)) !== 'NUMPY') throw refusal(name, 'it is not a .npy file', 'save it with numpy.save');
  const long = bytes[6] > 1, from = long ? 12 + view.getUint32(8, true) : 10 + view.getUint16(8, true);
  const header = textOf(bytes.subarray(long ? 12 : 10, from)), type = /'descr':\s*'([^']+)'/.exec(header)?.[1];
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1].split(',').filter(part => part.trim()).map(Number) ?? [];
  const kinds = { '<f4': [4, 'getFloat32'], '<f8': [8, 'getFloat64'], '<i4': [4, 'getInt32'], '<i8': [8, 'getBigInt64'], '<u4': [4, 'getUint32'], '|u1': [1, 'getUint8'], '|i1': [1, 'getInt8'], '<i2': [2, 'getInt16'], '<u2': [2, 'getUint16'] };
  if (!kinds[type] || !shape.length || /'fortran_order':\s*True/.test(header)) throw refusal(name, `an array of type ${type} is not read here`, 'save float32, float64 or integers in C order');
  const [size, read] = kinds[type], count = shape.reduce((a, b) => a * b, 1), columns = count / shape[0];
  if (!count) throw refusal(name, 'there are no samples in it', 'save an array of shape [samples, values]');
  if (from + count * size > bytes.length) throw refusal(name, 'it ends too early', 'copy or save it again');
  const values = Array.from({ length: count }, (_, k) => Number(view[read](from + k * size, true)));
  const wrong = values.findIndex(value => !Number.isFinite(value));
  if (wrong >= 0) throw refusal(name, `sample ${Math.floor(wrong / columns)} has a value that is not finite`, 'mend it or leave it out');
  return { name, columns, rows: Array.from({ length: shape[0] }, (_, k) => values.slice(k * columns, (k + 1) * columns)), number: value => value };
}
async function read(file) {
  const [reader] = [[/\.npy$/i, arrayOf], [/\.(csv|txt|tsv|dat)$/i, tableOf]].filter(([ends]) => ends.test(file.name));
  if (!reader) throw refusal(file.name, 'neither a table (.csv) nor an array of NumPy (.npy)', 'give samples in one of these');
  return reader[1](file.name, new Uint8Array(await file.arrayBuffer()));
}
async function own(files) {
  if (files.length > 2) throw new Error(`${files.length} files: give one table, or two files: samples, and the orbit of each`);
  const tables = await Promise.all([...files].map(read));
  const samples = tables.find(file => file.columns > 1), [orbits] = tables.filter(file => file !== samples);
  if (!samples || (orbits && orbits.columns > 1)) throw refusal(tables[0].name, 'its samples have one value each, or there are two files of samples', 'give samples of several values, and the orbit of each');
  const { number } = samples;
  // An orbit may be called by a number or a word.
  const numbered = words => { const all = [...new Set(words)]; return words.map(word => all.indexOf(word)); };
  if (orbits) return { samples: samples.rows.map(row => row.map(number)), labels: numbered(orbits.rows.map(([word]) => word)) };
  if (/\.npy$/i.test(samples.name)) throw refusal(samples.name, 'nothing says which samples are of one orbit', 'give two files at once, these samples and one label for each');
  return { samples: samples.rows.map(row => row.slice(1).map(number)), labels: numbered(samples.rows.map(([word]) => word)) };
}
async function take(files) {
  try {
    fail();
    if (!files.length) throw new Error('there is no file in what was dropped: drop a .csv, or two .npy files');
    begin({ ...await own(files), seed: 1 });
    $('learn').scrollIntoView();
  } catch (error) { fail(error); }
}
$('files').onchange = () => {
  const files = [...$('files').files];
  // So that the same name, mended, can be chosen again.
  $('files').value = '';
  if (files.length) take(files);
};
const dropping = on => document.body.classList.toggle('dropping', on);
addEventListener('dragover', event => { event.preventDefault(); dropping(true); });
addEventListener('dragleave', event => { if (!event.relatedTarget) dropping(false); });
addEventListener('drop', event => { event.preventDefault(); dropping(false); take(event.dataTransfer.files); });

// ---- Take it along ---------------------------------------------------------------------------------------------------------------
const FILES = ['model.bsn', 'model.rs', 'model.h', 'firmware-rust.zip', 'firmware-c.zip'];
function save(bytes, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  $('taken').textContent = `${name}: ${grouped(bytes.length)} bytes`;
}
for (const button of document.querySelectorAll('[data-file]')) button.onclick = attempt(() => {
  const model = { see: models[state.kind], classifier: classifiers[state.kind], learn: learned }[$('which').value], form = +button.dataset.file;
  save(call('export', undefined, model.handle, form), FILES[form]);
});
$('report').onclick = attempt(() => save(report, 'report.html'));

// ---- Values under the pointer, or by keys ------------------------------------------------------------------------------------------
for (const [name, cells] of Object.entries({
  coefficients: () => titled($('coefficients')),
  power: () => titled($('power')),
  invariants: () => {
    if (!latest) return [];
    const { rows } = models[state.kind], shown = invariantsShown(rows);
    return grid(shown, shown, (i, j) => { const k = place(i, j, rows); return `β of rows ${Math.min(i, j)} and ${Math.max(i, j)}: ${polar(latest.invariants[k], latest.invariants[k + 1])}`; });
  },
  waves: () => {
    const { w, rows, inputs } = learning;
    return rows ? grid(inputs, rows, (row, n) => `row ${row}, input ${n}: ${w[row * 2 * inputs + n].toFixed(3)} + ${w[row * 2 * inputs + inputs + n].toFixed(3)} i`.replace('+ -', '− ')) : [];
  },
  table: () => {
    const { table } = learning, n = table?.products.length ?? 0;
    return n ? grid(n, n, (i, j) => `${i} · ${j} = ${table.products[i][j]}, overlap ${table.confidences[i * n + j].toFixed(4)}`) : [];
  },
})) explore($(`${name}-host`), $(name), cells, text => { $(`${name}-value`).textContent = text; });

// ---- The beginning: after the first paint ---------------------------------------------------------------------------------------------
matchMedia('(prefers-color-scheme: dark)').onchange = () => { readTheme(); show(); drawFool(); drawLearning(); };
async function start() {
  readTheme();
  const wasm = bytesOf64($('engine').textContent.trim());
  module = await WebAssembly.compile(wasm);
  call = engineOf(module);
  examples = jsonOf(call('examples'));
  const given = JSON.parse($('classifiers').textContent);
  classifiers = Object.fromEntries(['turn', 'shifted', 'turned'].map((name, k) => {
    const { exact, model, classes, instructions } = given[k];
    models[name] = jsonOf(call('load', bytesOf64(exact)));
    return [name, { ...jsonOf(call('load', bytesOf64(model))), classes, instructions }];
  }));
  kind('turn');
  drawLearning();
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
  const whole = new TextEncoder().encode(document.documentElement.outerHTML).length;
  $('size').textContent = `(${(whole / 1e6).toFixed(1)} MB in one file, ${(wasm.length / 1e6).toFixed(1)} MB of it WebAssembly${paint ? `; first paint after ${Math.round(paint)} ms` : ''}; ready after ${Math.round(performance.now())} ms.)`;
  // For tests and the curious: the signal as it is, and what the engine says.
  globalThis.bispectral = { call, signal, models, classifiers, state, computed, ready: performance.now() };
}
requestAnimationFrame(() => setTimeout(() => start().catch(fail)));
