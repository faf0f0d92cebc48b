'use strict';
const $ = id => document.getElementById(id);
const fail = error => { $('failure').hidden = !error; $('failure').textContent = error ? error.message ?? error : ''; };
const attempt = action => (...given) => { try { fail(); return action(...given); } catch (error) { fail(error); } };
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const scientific = x => x === 0 ? '0' : x.toExponential(1);

const encoded = $('engine').textContent.trim();
const wasm = Uint8Array.from(atob(encoded), c => c.charCodeAt(0));
const module = new WebAssembly.Module(wasm);
const call = engineOf(module);
$('size').textContent = `${(wasm.length / 1024).toFixed(0)} KiB of WebAssembly`;

// ---- Signals and how they move -------------------------------------------------------------------------------------------
const TURN = 64, SIDE = 16;
const bump = (n, at, width) => Math.exp(-(((n - at + TURN * 1.5) % TURN - TURN / 2) ** 2) / (2 * width * width));
const EXAMPLES = {
  turn: {
    'a gearbox': n => Math.cos(2 * Math.PI * n * n / 160) * (1 - n / 90),
    'a cam': n => [3, 1, -2, 0, 4, -1, -3, 2][Math.floor(n / 8)] + (n % 8 === 3 ? 2 : 0),
    'a worn bearing': n => Math.cos(2 * Math.PI * n / TURN) + 1.6 * bump(n, 20, 2) + .8 * bump(n, 44, 3),
    'a heartbeat': n => 2 * bump(n, 30, 1.5) - .6 * bump(n, 33, 1.5) + .4 * bump(n, 18, 3) + .5 * bump(n, 48, 5),
    'a healthy motor': n => Math.cos(2 * Math.PI * n / TURN) + .4 * Math.cos(6 * Math.PI * n / TURN + 1) + .2,
  },
  image: {
    'a seven': ['..............', '.########.....', '........#.....', '.......#......', '......#.......', '.....#........', '.....#........', '....#.........'],
    'a two': ['..............', '...####.......', '..#....#......', '.......#......', '......#.......', '....##........', '...#..........', '..######......'],
    'a key': ['..............', '..###.........', '.#...#........', '.#...########.', '.#...#...#.#..', '..###.........'],
  },
};
const state = { kind: 'turn', drawn: new Float32Array(TURN), shift: [0, 0], base: null };
const models = { turn: jsonOf(call('group', 'Z64')), image: jsonOf(call('group', 'Z16xZ16')) };

function example(kind, name) {
  const made = EXAMPLES[kind][name];
  if (kind === 'turn') return Float32Array.from({ length: TURN }, (_, n) => made(n));
  return Float32Array.from({ length: SIDE * SIDE }, (_, k) => made[Math.floor(k / SIDE) - 3]?.[k % SIDE] === '#' ? 1 : 0);
}
function moved(x, [right, down]) {
  if (x.length === TURN) return Float32Array.from(x, (_, n) => x[(n - right + TURN) % TURN]);
  const at = (row, column) => x[((row - down + SIDE) % SIDE) * SIDE + (column - right + SIDE) % SIDE];
  return Float32Array.from(x, (_, k) => at(Math.floor(k / SIDE), k % SIDE));
}
const signal = () => moved(state.drawn, state.shift);

// ---- Pictures ----------------------------------------------------------------------------------------------------------------
function drawSignal(canvas, x) {
  const pen = canvas.getContext('2d'), { width, height } = canvas;
  pen.clearRect(0, 0, width, height);
  if (!x) return;
  if (x.length === SIDE * SIDE) {
    const side = Math.min(width, height) / SIDE, left = (width - side * SIDE) / 2;
    let least = Infinity, most = -Infinity;
    for (const v of x) { least = Math.min(least, v); most = Math.max(most, v); }
    const span = most - least || 1;
    for (let k = 0; k < x.length; k++) {
      const level = (x[k] - least) / span;
      pen.fillStyle = `color-mix(in srgb, ${colour('--mark')} ${Math.round(100 * level)}%, ${colour('--paper')})`;
      pen.fillRect(left + (k % SIDE) * side, Math.floor(k / SIDE) * side, side + .5, side + .5);
    }
    pen.strokeStyle = colour('--line');
    pen.strokeRect(left, 0, side * SIDE, side * SIDE);
    return;
  }
  const most = Math.max(...x.map(Math.abs)) || 1;
  pen.strokeStyle = colour('--line');
  pen.beginPath(); pen.moveTo(0, height / 2); pen.lineTo(width, height / 2); pen.stroke();
  pen.strokeStyle = colour('--mark'); pen.lineWidth = 3; pen.beginPath();
  x.forEach((v, n) => pen.lineTo((n + .5) * width / x.length, height / 2 - .45 * height * v / most));
  pen.stroke(); pen.lineWidth = 1;
}
const SVG = 'http://www.w3.org/2000/svg';
function fill(svg, elements) {
  svg.replaceChildren(...elements.map(([name, attributes]) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }));
}
function drawCoefficients(z, image) {
  const shown = image ? 40 : 24, across = 8, size = 480 / across, elements = [];
  const rows = Math.ceil(shown / across);
  let most = 0;
  for (let k = 1; k <= shown; k++) most = Math.max(most, Math.hypot(z[2 * k], z[2 * k + 1]));
  $('coefficients').setAttribute('viewBox', `0 0 480 ${rows * size}`);
  for (let k = 1; k <= shown; k++) {
    const x = ((k - 1) % across + .5) * size, y = (Math.floor((k - 1) / across) + .5) * size;
    const length = Math.hypot(z[2 * k], z[2 * k + 1]), scale = .46 * size * Math.sqrt(length / (most || 1)) / (length || 1);
    elements.push(['circle', { cx: x, cy: y, r: .46 * size, fill: 'none', stroke: 'var(--line)' }]);
    elements.push(['line', { x1: x, y1: y, x2: x + z[2 * k] * scale, y2: y - z[2 * k + 1] * scale, stroke: 'var(--mark)', 'stroke-width': 3, 'stroke-linecap': 'round' }]);
  }
  fill($('coefficients'), elements);
}
function drawPower(power) {
  const shown = power.slice(0, 64), most = Math.max(...shown.slice(1)) || 1, width = 480 / shown.length;
  fill($('power'), Array.from(shown, (p, k) => {
    const height = 190 * Math.min(1, Math.sqrt(p / most));
    return ['rect', { x: k * width + .5, y: 200 - height, width: Math.max(1, width - 1), height, fill: 'var(--mark)' }];
  }));
}
// The triangle of β_ij for the first rows; colour is the phase, brightness the cube root of the size.
function drawInvariants(invariants, rows) {
  const canvas = $('invariants'), pen = canvas.getContext('2d'), shown = Math.min(rows, rows > 64 ? 64 : 33), size = canvas.width / shown;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  let most = 0;
  for (let k = 0; k < invariants.length; k += 2) most = Math.max(most, Math.hypot(invariants[k], invariants[k + 1]));
  for (let i = 0; i < shown; i++) for (let j = i; j < shown; j++) {
    const k = 2 * (i * rows - i * (i - 1) / 2 + j - i), re = invariants[k], im = invariants[k + 1];
    const light = Math.cbrt(Math.hypot(re, im) / most);
    const tint = `hsl(${Math.atan2(im, re) * 180 / Math.PI} 75% 50%)`;
    pen.fillStyle = light < .01 ? colour('--paper') : `color-mix(in srgb, ${tint} ${Math.round(100 * light)}%, ${colour('--paper')})`;
    pen.fillRect(j * size, i * size, size + .5, size + .5);
    if (j > i) pen.fillRect(i * size, j * size, size + .5, size + .5);
  }
}

// ---- See it --------------------------------------------------------------------------------------------------------------------
const difference = (a, b) => {
  let sum = 0, length = 0;
  a.forEach((v, k) => { sum += (v - b[k]) ** 2; length += b[k] ** 2; });
  return Math.sqrt(sum / (length || 1));
};
function computed(x) {
  const { handle, rows, pairs } = models[state.kind];
  const answer = call('compute', x, handle), numbers = floatsOf(answer, 8), head = new Uint32Array(answer.buffer, 0, 2);
  return {
    checksum: head[0].toString(16).padStart(8, '0'),
    z: numbers.subarray(0, 2 * rows),
    invariants: numbers.subarray(2 * rows, 2 * rows + 2 * pairs),
    power: numbers.subarray(2 * rows + 2 * pairs, 3 * rows + 2 * pairs),
  };
}
const show = attempt(() => {
  const x = signal(), image = state.kind === 'image', model = models[state.kind];
  drawSignal($('signal'), x);
  const found = computed(x);
  state.base ??= found;
  drawCoefficients(found.z, image);
  drawInvariants(found.invariants, model.rows);
  drawPower(found.power);
  $('checksum').textContent = found.checksum;
  $('drift').textContent = scientific(difference(found.invariants, state.base.invariants));
  $('drift-z').textContent = scientific(difference(found.z, state.base.z));
});
function describe() {
  const model = models[state.kind], image = state.kind === 'image';
  $('model').textContent = `${model.group}: ${model.inputs} inputs, ${model.pairs.toLocaleString('en')} invariants, ${model.bytes.toLocaleString('en')} bytes of flash`;
  $('cost').textContent = `about ${model.instructions.toLocaleString('en')} instructions for one signal, ${model.ram.toLocaleString('en')} bytes of RAM beside the stack`;
  $('shift-x').max = image ? SIDE - 1 : TURN - 1;
  $('shift-y-label').hidden = !image;
  $('hint').textContent = image ? 'Drag or use the arrow keys to shift it, or draw.' : 'Drag or use the arrow keys: it starts elsewhere.';
}
function shift(right, down) {
  const most = state.kind === 'image' ? SIDE : TURN;
  state.shift = [((right % most) + most) % most, ((down % most) + most) % most];
  $('shift-x').value = state.shift[0];
  $('shift-y').value = state.shift[1];
  show();
}
function choose(name) {
  state.drawn = example(state.kind, name);
  state.base = null;
  shift(0, 0);
  restart();
}
function kind(chosen) {
  state.kind = chosen;
  $('example').replaceChildren(...Object.keys(EXAMPLES[chosen]).map(name => new Option(name)));
  describe();
  choose($('example').value);
}
$('kind').onchange = () => kind($('kind').value);
$('example').onchange = () => choose($('example').value);
$('clear').onclick = () => {
  // Not quite empty: a signal of zeros has no direction.
  state.drawn.fill(0); state.drawn[0] = 1; state.base = null; shift(0, 0); restart();
};
$('shift-x').oninput = () => shift(+$('shift-x').value, state.shift[1]);
$('shift-y').oninput = () => shift(state.shift[0], +$('shift-y').value);
$('signal').onkeydown = event => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  shift(state.shift[0] + step[0], state.shift[1] + (state.kind === 'image' ? step[1] : 0));
};
let held = null;
const place = event => {
  const canvas = $('signal'), box = canvas.getBoundingClientRect();
  return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
};
function draw([x, y]) {
  const { width, height } = $('signal');
  if (state.kind === 'turn') {
    const n = Math.floor(x * TURN / width);
    if (n < 0 || n >= TURN) return;
    state.drawn[(n - state.shift[0] + TURN) % TURN] = (height / 2 - y) / (.45 * height);
  } else {
    const side = height / SIDE, column = Math.floor((x - (width - height) / 2) / side), row = Math.floor(y / side);
    if (column < 0 || column >= SIDE || row < 0 || row >= SIDE) return;
    state.drawn[((row - state.shift[1] + SIDE) % SIDE) * SIDE + (column - state.shift[0] + SIDE) % SIDE] = 1;
  }
  state.base = null;
  show();
}
$('signal').onpointerdown = event => {
  $('signal').setPointerCapture(event.pointerId);
  held = { at: place(event), shift: state.shift.slice() };
  if (document.querySelector('[name=pointer]:checked').value === 'draw') draw(held.at);
};
$('signal').onpointermove = event => {
  if (!held) return;
  const at = place(event), { width, height } = $('signal');
  if (document.querySelector('[name=pointer]:checked').value === 'draw') return draw(at);
  const unit = state.kind === 'image' ? height / SIDE : width / TURN;
  const down = state.kind === 'image' ? Math.round((at[1] - held.at[1]) / unit) : 0;
  shift(held.shift[0] + Math.round((at[0] - held.at[0]) / unit), held.shift[1] + down);
};
$('signal').onpointerup = $('signal').onpointercancel = () => { if (held) { held = null; restart(); } };

// ---- Fool it -------------------------------------------------------------------------------------------------------------------
const fool = { target: null, playing: false, over: false };
function restart() {
  fool.target = signal();
  fool.over = false;
  stop();
  shown(attempt(() => call('attack', fool.target, models[state.kind].handle, +$('measure').value))());
}
function stop() { fool.playing = false; $('play').textContent = 'Play'; }
// The best shift and scale of a signal onto another, by trying all shifts.
function aligned(x, target) {
  const shifts = x.length === TURN ? Array.from({ length: TURN }, (_, n) => [n, 0]) : Array.from({ length: SIDE * SIDE }, (_, k) => [k % SIDE, Math.floor(k / SIDE)]);
  const square = target.reduce((sum, v) => sum + v * v, 0), own = x.reduce((sum, v) => sum + v * v, 0) || 1;
  let best = { error: Infinity, signal: x };
  for (const by of shifts) {
    const y = moved(x, by);
    let dot = 0;
    for (let n = 0; n < y.length; n++) dot += y[n] * target[n];
    const scale = Math.max(0, dot / own), error = square - scale * dot;
    if (error < best.error) best = { error, signal: y.map(v => v * scale) };
  }
  return { signal: best.signal, distance: Math.sqrt(Math.max(0, best.error) / (square || 1)) };
}
function shown(answer) {
  if (!answer) return;
  const [distance, steps, goesOn] = floatsOf(answer).subarray(0, 3), x = floatsOf(answer).slice(3);
  fool.over = goesOn === 0;
  drawSignal($('target'), fool.target);
  drawSignal($('metamer'), x);
  const near = aligned(x, fool.target);
  drawSignal($('aligned'), near.signal);
  $('fool-steps').textContent = `${steps}${fool.over ? ', and it has ended' : ''}`;
  $('fool-distance').textContent = Number.isFinite(distance) ? scientific(distance) : '';
  $('fool-orbit').textContent = near.distance.toFixed(4);
}
const descend = attempt(steps => shown(call('descend', undefined, steps)));
function play() {
  if (!fool.playing) return;
  const begun = performance.now();
  do descend(state.kind === 'image' ? 1 : 10); while (!fool.over && performance.now() - begun < 40);
  if (fool.over) return stop();
  requestAnimationFrame(play);
}
$('play').onclick = () => {
  if (fool.playing) return stop();
  if (fool.over) restart();
  fool.playing = true; $('play').textContent = 'Pause'; play();
};
$('step').onclick = () => { stop(); descend(1); };
$('again').onclick = restart;
$('measure').onchange = restart;

// ---- Learn it ------------------------------------------------------------------------------------------------------------------
let worker = null, learned = null, latest = null;
function begin(task) {
  worker?.terminate();
  const source = new Blob([`${$('bridge').textContent}\nwork();`], { type: 'text/javascript' });
  worker = new Worker(URL.createObjectURL(source));
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = event => { fail(event.message || 'learning stopped'); $('pause').disabled = true; };
  worker.postMessage({ module, task, run: true });
  $('group').textContent = ''; $('progress').textContent = 'Learning …';
  $('pause').disabled = false; $('pause').textContent = 'Stop';
}
function hear(data) {
  fail(data.failure);
  if (data.failure) { $('progress').textContent = ''; $('pause').disabled = true; }
  if (data.begun) drawOrbits(data.samples);
  if (data.state) {
    const { steps, phase, last, attempts, table } = data.state;
    const change = last ? `, change along orbits ${scientific(last.invariance)}` : '';
    $('progress').textContent = `${phase ?? 'done'}: ${steps} steps${attempts > 1 ? `, attempt ${attempts}` : ''}${change}`;
    const [rows, inputs] = new Uint32Array(data.weights.buffer, 0, 2);
    drawWaves(floatsOf(data.weights, 8), rows, inputs);
    drawTable(table);
  }
  if (data.ended) {
    const { learned: found } = data.ended;
    $('group').textContent = found.group ? found.group.name : `none recognised: ${found.reason}`;
    learned = jsonOf(call('load', data.model));
    $('which').querySelector('[value=learn]').disabled = false;
    $('which').value = 'learn';
    $('pause').disabled = true;
  }
}
function tiles(canvas, columns, rows, each) {
  const pen = canvas.getContext('2d');
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const width = canvas.width / columns, height = canvas.height / rows;
  for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
    pen.fillStyle = each(row, column);
    pen.fillRect(column * width, row * height, width + .5, height + .5);
  }
}
function drawOrbits(samples) {
  const most = samples.flat().reduce((m, x) => Math.max(m, ...x.map(Math.abs)), 0) || 1;
  const members = Math.max(...samples.map(row => row.length)), inputs = samples[0][0].length;
  tiles($('orbits'), members * (inputs + 1), samples.length * 2, (row, column) => {
    const x = samples[Math.floor(row / 2)]?.[Math.floor(column / (inputs + 1))], n = column % (inputs + 1);
    return row % 2 || !x || n === inputs ? colour('--paper') : signed(x[n] / most);
  });
}
const signed = v => `color-mix(in srgb, ${v > 0 ? '#d9622b' : '#2b6fd9'} ${Math.round(100 * Math.min(1, Math.abs(v)))}%, ${colour('--paper')})`;
function drawWaves(w, rows, inputs) {
  let most = 0;
  for (const v of w) most = Math.max(most, Math.abs(v));
  tiles($('waves'), inputs, rows, (row, column) => signed(w[row * 2 * inputs + column] / (most || 1)));
}
function drawTable(table) {
  latest = table;
  if (!table) return;
  const n = table.products.length;
  tiles($('table'), n, n, (i, j) => {
    const sure = Math.max(0, Math.min(1, table.confidences[i * n + j]));
    return `color-mix(in srgb, hsl(${360 * table.products[i][j] / n} 65% 55%) ${Math.round(100 * sure ** 4)}%, ${colour('--paper')})`;
  });
}
$('table').onpointermove = event => {
  if (!latest) return;
  const box = $('table').getBoundingClientRect(), n = latest.products.length;
  const at = offset => Math.max(0, Math.min(n - 1, Math.floor(offset * n)));
  const i = at((event.clientY - box.top) / box.height), j = at((event.clientX - box.left) / box.width);
  $('cell').textContent = `row ${i} times row ${j} is row ${latest.products[i][j]}, overlap ${latest.confidences[i * n + j].toFixed(4)}`;
};
const chosen = () => ({ gradients: $('recipe').value === '1', seed: 1 });
$('start').onclick = () => begin({ group: $('hidden').value, exemplars: 60, ...chosen() });
$('pause').onclick = () => {
  const stopped = $('pause').textContent === 'Stop';
  worker?.postMessage({ run: !stopped });
  $('pause').textContent = stopped ? 'Go on' : 'Stop';
};
function table(text) {
  const lines = text.split(/\r?\n/).filter(line => line.trim());
  const cells = lines.map(line => line.split(/[;,\t]/).map(cell => cell.trim()));
  if (cells.length && cells[0].some(cell => cell === '' || Number.isNaN(Number(cell)))) cells.shift();
  const samples = cells.map(row => row.slice(1).map(Number)), labels = cells.map(row => Number(row[0]));
  if (!samples.length || samples.some(row => row.length !== samples[0].length || row.some(Number.isNaN))) throw new Error('the table has no samples, rows of several lengths, or a cell that is not a number: give the orbit of each sample in the first column');
  if (!labels.every(Number.isSafeInteger)) throw new Error('the first column must be whole numbers, the orbit of each sample');
  return { samples, labels };
}
function npy(buffer) {
  const bytes = new Uint8Array(buffer), view = new DataView(buffer);
  if (textOf(bytes.subarray(1, 6)) !== 'NUMPY') throw new Error('not a .npy file');
  const long = bytes[6] > 1, length = long ? view.getUint32(8, true) : view.getUint16(8, true), from = (long ? 12 : 10) + length;
  const header = textOf(bytes.subarray(long ? 12 : 10, from));
  const type = /'descr':\s*'([^']+)'/.exec(header)?.[1], shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1].split(',').filter(s => s.trim()).map(Number);
  const kinds = { '<f4': [4, 'getFloat32'], '<f8': [8, 'getFloat64'], '<i4': [4, 'getInt32'], '<i8': [8, 'getBigInt64'], '|u1': [1, 'getUint8'], '<i2': [2, 'getInt16'] };
  if (!kinds[type] || !shape || /True/.test(header)) throw new Error(`a .npy file of ${type} is not read here: save float32, float64 or integers in C order`);
  const [size, read] = kinds[type], count = shape.reduce((a, b) => a * b, 1);
  if (from + count * size > bytes.length) throw new Error('the .npy file ends too early: save it again');
  return { shape, values: Array.from({ length: count }, (_, k) => Number(view[read](from + k * size, true))) };
}
async function own(files) {
  const names = [...files];
  const arrays = await Promise.all(names.filter(f => f.name.endsWith('.npy')).map(async f => npy(await f.arrayBuffer())));
  if (arrays.length === 0) return table(await names[0].text());
  const samples = arrays.find(a => a.shape.length > 1), labels = arrays.find(a => a.shape.length === 1);
  if (!samples || !labels) throw new Error('give two .npy files at once: samples [S, N] and S labels');
  const rows = samples.shape[0], width = samples.values.length / rows;
  return { samples: Array.from({ length: rows }, (_, k) => samples.values.slice(k * width, (k + 1) * width)), labels: labels.values };
}
async function take(files) {
  if (!files.length) return;
  try { fail(); begin({ ...await own(files), ...chosen() }); } catch (error) { fail(error); }
}
$('files').onchange = () => take($('files').files);
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', event => { event.preventDefault(); take(event.dataTransfer.files); });

// ---- Take it along ---------------------------------------------------------------------------------------------------------------
const FILES = ['model.bsn', 'model.rs', 'model.h'];
for (const button of document.querySelectorAll('[data-file]')) button.onclick = attempt(() => {
  const model = $('which').value === 'learn' ? learned : models[state.kind], kind = +button.dataset.file;
  const file = new Blob([call('export', undefined, model.handle, kind)]), link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = FILES[kind];
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

matchMedia('(prefers-color-scheme: dark)').onchange = () => { show(); drawSignal($('target'), fool.target); };
// For tests and the curious: the signal as it is, and what the engine says.
globalThis.bispectral = { call, signal, models, state };
kind('turn');
